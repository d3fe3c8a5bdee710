import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.thrift.generated.Hbase;
import org.apache.hadoop.hbase.thrift2.generated.TColumnFamilyDescriptor;
import org.apache.hadoop.hbase.thrift2.generated.TColumnValue;
import org.apache.hadoop.hbase.thrift2.generated.THBaseService;
import org.apache.hadoop.hbase.thrift2.generated.TPut;
import org.apache.hadoop.hbase.thrift2.generated.TTableDescriptor;
import org.apache.hadoop.hbase.thrift2.generated.TTableName;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.THttpClient;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;

/**
 * Answers the questions of control.py about the HBase in this JVM, so that none of them costs the start of a JVM.
 *
 * <p>One connection is one question: a line of words, keys in hex. The answer is a line {@code ok} and a line for each
 * result, or one line {@code error REASON}; then the connection is closed.
 */
final class Control {
  private static final HexFormat HEX = HexFormat.of();
  private static final String HOST = "127.0.0.1";
  private static final int PATIENCE = 60; // seconds
  private static final String PROBE = "neomodel.cluster.probe";

  private final Configuration conf;
  private final HMaster master;
  private Connection connection;

  Control(Configuration conf, HMaster master) {
    this.conf = conf;
    this.master = master;
  }

  void listen(int port) throws IOException {
    ServerSocket listener = new ServerSocket(port, 16, InetAddress.getByName(HOST));
    inBackground(() -> {
      while (true) {
        Socket socket = listener.accept();
        inBackground(() -> answer(socket));
      }
    });
  }

  private static void inBackground(Launcher.Task task) {
    Thread thread = new Thread(() -> {
      try {
        task.run();
      } catch (Exception broken) {
        System.err.println("control: a question broke off: " + broken);
      }
    }, "control");
    thread.setDaemon(true);
    thread.start();
  }

  private void answer(Socket socket) throws IOException {
    try (socket) {
      socket.setSoTimeout(5_000);
      converse(socket);
    }
  }

  private void converse(Socket socket) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    String question = in.readLine();
    if (question == null) return;
    PrintStream out = new PrintStream(socket.getOutputStream(), false, StandardCharsets.UTF_8);
    try {
      List<String> results = ask(question.split(" "));
      out.println("ok");
      results.forEach(out::println);
    } catch (Throwable failure) {
      out.println("error " + failure.toString().replace('\n', ' '));
    }
    out.flush();
  }

  private List<String> ask(String[] words) throws Exception {
    if (words[0].equals("servers")) return servers();
    try (Admin admin = connection().getAdmin()) {
      switch (words[0]) {
        case "regions" -> {
          return regions(TableName.valueOf(words[1]));
        }
        case "move" -> admin.move(words[1].getBytes(StandardCharsets.UTF_8), server(words[2]));
        case "split" -> split(admin, TableName.valueOf(words[1]), HEX.parseHex(words[2]));
        case "flush" -> admin.flush(TableName.valueOf(words[1]));
        case "compact" -> compact(admin, TableName.valueOf(words[1]));
        case "balancer" -> admin.balancerSwitch(words[1].equals("on"), true);
        case "probe" -> probe(admin, Arrays.asList(words).subList(1, words.length));
        case "shutdown" -> admin.shutdown();
        default -> throw new IllegalArgumentException("there is no question " + words[0]);
      }
    }
    return List.of();
  }

  private synchronized Connection connection() throws IOException {
    if (connection == null) connection = ConnectionFactory.createConnection(conf);
    return connection;
  }

  /** The region servers that the master counts as alive, with their start codes; none before it is ready itself. */
  private List<String> servers() {
    if (!master.isInitialized()) return List.of();
    return master.getServerManager().getOnlineServersList().stream()
        .map(name -> name.getAddress() + " " + name.getStartCode())
        .toList();
  }

  private List<String> regions(TableName table) throws IOException {
    try (RegionLocator locator = connection().getRegionLocator(table)) {
      locator.clearRegionLocationCache();
      return locator.getAllRegionLocations().stream().map(Control::describe).toList();
    }
  }

  private static String describe(HRegionLocation location) {
    RegionInfo region = location.getRegion();
    ServerName server = location.getServerName();
    String keys = "x" + HEX.formatHex(region.getStartKey()) + " x" + HEX.formatHex(region.getEndKey());
    return region.getEncodedName() + " " + keys + " " + (server == null ? "-" : server.getAddress());
  }

  private ServerName server(String address) {
    for (ServerName name : master.getServerManager().getOnlineServersList()) {
      if (name.getAddress().toString().equals(address)) return name;
    }
    throw new IllegalArgumentException("no region server is alive at " + address);
  }

  private static void split(Admin admin, TableName table, byte[] key) throws Exception {
    for (RegionInfo region : admin.getRegions(table)) {
      if (region.containsRow(key)) {
        admin.splitRegionAsync(region.getRegionName(), key).get(PATIENCE, TimeUnit.SECONDS);
      }
    }
  }

  private static void compact(Admin admin, TableName table) throws Exception {
    admin.majorCompact(table);
    while (admin.getCompactionState(table) != CompactionState.NONE) Thread.sleep(100);
  }

  /** Makes a table, writes to it by the Thrift2 and reads by the Thrift1 side of every gateway, drops it again. */
  private void probe(Admin admin, List<String> ports) throws Exception {
    TableName left = TableName.valueOf(PROBE);
    if (admin.tableExists(left)) {
      if (admin.isTableEnabled(left)) admin.disableTable(left);
      admin.deleteTable(left);
    }
    TTableName table = new TTableName().setQualifier(PROBE.getBytes(StandardCharsets.UTF_8));
    ByteBuffer name = ByteBuffer.wrap(PROBE.getBytes(StandardCharsets.UTF_8));
    TColumnFamilyDescriptor family = new TColumnFamilyDescriptor(bytes("p"));
    for (int i = 0; i < ports.size(); i += 2) {
      try (TTransport one = open(ports.get(i)); TTransport two = open(ports.get(i + 1))) {
        Hbase.Client thrift1 = new Hbase.Client(new TBinaryProtocol(one));
        THBaseService.Client thrift2 = new THBaseService.Client(new TBinaryProtocol(two));
        if (i == 0) thrift2.createTable(new TTableDescriptor(table).setColumns(List.of(family)), List.of());
        TColumnValue cell = new TColumnValue(bytes("p"), bytes("q"), bytes("v"));
        thrift2.put(name.duplicate(), new TPut(bytes(ports.get(i)), List.of(cell)));
        int read = thrift1.get(name.duplicate(), bytes(ports.get(i)), bytes("p:q"), null).size();
        if (read != 1) throw new IllegalStateException("gateway " + ports.get(i) + " lost what was written");
      }
    }
    admin.disableTable(left);
    admin.deleteTable(left);
  }

  /** A connection to a gateway, in the mode that this cluster's gateways are in. */
  private TTransport open(String port) throws Exception {
    if (!conf.getBoolean("hbase.thrift.ssl.enabled", false)) {
      TSocket socket = new TSocket(new TConfiguration(), HOST, Integer.parseInt(port), PATIENCE * 1000);
      socket.open();
      return socket;
    }
    System.setProperty("javax.net.ssl.trustStore", conf.get("hbase.thrift.ssl.keystore.store"));
    System.setProperty("javax.net.ssl.trustStorePassword", conf.get("hbase.thrift.ssl.keystore.password"));
    THttpClient client = new THttpClient("https://" + HOST + ":" + port + "/");
    client.setReadTimeout(PATIENCE * 1000);
    return client;
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }
}
