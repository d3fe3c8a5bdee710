import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.ZooKeeperServerMain;

/**
 * Hosts the daemons of a local HBase that share one JVM, started in the order given.
 *
 * <p>Usage: {@code java -Dneomodel.conf=FOLDER Launcher ROLE[:PORT]...} with the roles zookeeper, namenode, datanode,
 * master, server, thrift1, thrift2 and control. A daemon that can't start, or that ends by a fault, ends the JVM, and
 * the last line on standard error says which and why: nothing stays half alive.
 */
public final class Launcher {
  private static final String HOST = "127.0.0.1";
  private static final String CONF = System.getProperty("neomodel.conf");

  private HMaster master;

  public static void main(String[] roles) {
    // Without it a second daemon in the JVM fails to register its metrics under the first one's name.
    DefaultMetricsSystem.setMiniClusterMode(true);
    Launcher launcher = new Launcher();
    for (String role : roles) {
      String[] parts = role.split(":");
      try {
        launcher.start(parts[0], parts.length > 1 ? Integer.parseInt(parts[1]) : -1);
      } catch (Throwable failure) {
        fail(role, failure);
      }
    }
  }

  private void start(String role, int port) throws Exception {
    Configuration conf = configuration();
    switch (role) {
      case "zookeeper" -> {
        ServerConfig config = new ServerConfig();
        config.parse(CONF + "/zoo.cfg");
        inBackground(role, () -> new ZooKeeperServerMain().runFromConfig(config));
      }
      case "namenode" -> {
        formatOnce(conf);
        NameNode.createNameNode(new String[0], conf);
      }
      case "datanode" -> DataNode.createDataNode(new String[0], conf);
      case "master" -> {
        conf.setInt("hbase.master.port", port);
        master = HMaster.constructMaster(HMaster.class, conf);
        master.start();
        inBackground("end of master", () -> {
          master.join();
          end(role, master.isAborted());
        });
      }
      case "server" -> {
        conf.setInt("hbase.regionserver.port", port);
        HRegionServer server = new HRegionServer(conf);
        server.start();
        boolean alone = master == null;
        inBackground("end of server", () -> {
          server.join();
          // A stopping master waits for its servers, so in a shared JVM the master's end is the JVM's.
          if (alone || server.isAborted()) end(role, server.isAborted());
        });
      }
      case "thrift1" -> inBackground(role, () -> new org.apache.hadoop.hbase.thrift.ThriftServer(conf).run(listen(port)));
      case "thrift2" -> inBackground(role, () -> new org.apache.hadoop.hbase.thrift2.ThriftServer(conf).run(listen(port)));
      case "control" -> new Control(conf, master).listen(port);
      default -> throw new IllegalArgumentException("there is no role " + role);
    }
  }

  private static Configuration configuration() {
    Configuration conf = HBaseConfiguration.create();
    for (String name : List.of("core-site.xml", "hdfs-site.xml", "hbase-site.xml")) {
      conf.addResource(new Path(new File(CONF, name).toURI()));
    }
    return conf;
  }

  /** Formats a name node that has no image yet; never one whose data node has already been there. */
  private static void formatOnce(Configuration conf) throws Exception {
    File images = new File(new Path(conf.get("dfs.namenode.name.dir")).toUri().getPath(), "current");
    String[] found = images.list((folder, name) -> name.startsWith("fsimage_") && name.endsWith(".md5"));
    boolean used = new File(new Path(conf.get("dfs.datanode.data.dir")).toUri().getPath()).exists();
    if ((found == null || found.length == 0) && !used) NameNode.format(conf);
  }

  private static String[] listen(int port) {
    return new String[] {"-p", Integer.toString(port), "-b", HOST, "--infoport", "-1", "start"};
  }

  interface Task {
    void run() throws Exception;
  }

  private static void inBackground(String name, Task task) {
    new Thread(() -> {
      try {
        task.run();
      } catch (Throwable failure) {
        fail(name, failure);
      }
    }, name).start();
  }

  private static void end(String role, boolean aborted) {
    if (aborted) {
      System.err.println("FAILED " + role + ": it aborted, the reason is above");
      Runtime.getRuntime().halt(1);
    }
    System.exit(0);
  }

  private static void fail(String role, Throwable failure) {
    failure.printStackTrace();
    List<String> causes = new ArrayList<>();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) causes.add(0, cause.toString());
    System.err.println("FAILED " + role + ": " + causes.get(0).replace('\n', ' '));
    Runtime.getRuntime().halt(1);
  }
}
