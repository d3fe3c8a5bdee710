// The calls of HBase's Thrift2 gateway (HBase 2.6) that the HBase store makes, and no others.
// Numbers and types are the gateway's; a field that is left out here is left at its default there.

struct TTimeRange { 1: required i64 minStamp, 2: required i64 maxStamp }
struct TColumn { 1: required binary family, 2: optional binary qualifier, 3: optional i64 timestamp }
struct TColumnValue {
  1: required binary family, 2: required binary qualifier, 3: required binary value, 4: optional i64 timestamp
}
struct TResult { 1: optional binary row, 2: required list<TColumnValue> columnValues }

struct TGet {
  1: required binary row, 2: optional list<TColumn> columns, 4: optional TTimeRange timeRange,
  5: optional i32 maxVersions, 6: optional binary filterString, 12: optional i32 storeLimit
}
struct TPut { 1: required binary row, 2: required list<TColumnValue> columnValues, 3: optional i64 timestamp }
enum TDeleteType { DELETE_COLUMN = 0 }
struct TDelete { 1: required binary row, 2: optional list<TColumn> columns, 4: optional TDeleteType deleteType }
struct TScan {
  1: optional binary startRow, 2: optional binary stopRow, 3: optional list<TColumn> columns, 4: optional i32 caching,
  5: optional i32 maxVersions, 6: optional TTimeRange timeRange, 7: optional binary filterString,
  8: optional i32 batchSize
}
union TMutation { 1: TPut put }
struct TRowMutations { 1: required binary row, 2: required list<TMutation> mutations }
enum TCompareOp { EQUAL = 2 }

enum TDataBlockEncoding { FAST_DIFF = 4 }
struct TTableName { 1: optional binary ns, 2: required binary qualifier }
struct TColumnFamilyDescriptor {
  1: required binary name, 2: optional map<binary, binary> attributes, 3: optional map<string, string> configuration,
  4: optional i32 blockSize, 5: optional i32 bloomnFilterType, 6: optional i32 compressionType,
  7: optional i16 dfsReplication, 8: optional i32 dataBlockEncoding, 9: optional i32 keepDeletedCells,
  10: optional i32 maxVersions, 11: optional i32 minVersions, 12: optional i32 scope, 13: optional i32 timeToLive,
  14: optional bool blockCacheEnabled, 15: optional bool cacheBloomsOnWrite, 16: optional bool cacheDataOnWrite,
  17: optional bool cacheIndexesOnWrite, 18: optional bool compressTags, 19: optional bool evictBlocksOnClose,
  20: optional bool inMemory
}
struct TTableDescriptor {
  1: required TTableName tableName, 2: optional list<TColumnFamilyDescriptor> columns,
  3: optional map<binary, binary> attributes, 4: optional i32 durability
}

exception TIOError { 1: optional string message, 2: optional bool canRetry }
exception TIllegalArgument { 1: optional string message }

service THBaseService {
  TResult get(1: required binary table, 2: required TGet tget) throws (1: TIOError io)
  list<TResult> getMultiple(1: required binary table, 2: required list<TGet> tgets) throws (1: TIOError io)
  void putMultiple(1: required binary table, 2: required list<TPut> tputs) throws (1: TIOError io)
  list<TDelete> deleteMultiple(1: required binary table, 2: required list<TDelete> tdeletes) throws (1: TIOError io)
  bool checkAndMutate(
    1: required binary table, 2: required binary row, 3: required binary family, 4: required binary qualifier,
    5: required TCompareOp compareOp, 6: binary value, 7: required TRowMutations rowMutations
  ) throws (1: TIOError io)
  i32 openScanner(1: required binary table, 2: required TScan tscan) throws (1: TIOError io)
  list<TResult> getScannerRows(1: required i32 scannerId, 2: i32 numRows)
    throws (1: TIOError io, 2: TIllegalArgument ia)
  void closeScanner(1: required i32 scannerId) throws (1: TIOError io, 2: TIllegalArgument ia)

  TTableDescriptor getTableDescriptor(1: required TTableName table) throws (1: TIOError io)
  list<TTableDescriptor> getTableDescriptorsByPattern(1: optional string regex, 2: required bool includeSysTables)
    throws (1: TIOError io)
  void createTable(1: required TTableDescriptor desc, 2: optional list<binary> splitKeys) throws (1: TIOError io)
  void modifyTable(1: required TTableDescriptor desc) throws (1: TIOError io)
  bool isTableEnabled(1: required TTableName tableName) throws (1: TIOError io)
  void disableTable(1: required TTableName tableName) throws (1: TIOError io)
  void deleteTable(1: required TTableName tableName) throws (1: TIOError io)
}
