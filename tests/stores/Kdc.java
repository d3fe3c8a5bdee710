import java.io.File;
import java.net.InetAddress;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/**
 * A Kerberos realm on this machine, for as long as it runs: {@code java Kdc.java FOLDER PORT}. Puts the keytabs
 * hbase.keytab, of the gateways, and ada.keytab, of a user, into the folder; then prints the gateways' principal.
 */
public final class Kdc {
  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    SimpleKdcServer kdc = new SimpleKdcServer();
    kdc.setKdcRealm("NEOMODEL.TEST");
    kdc.setKdcHost("127.0.0.1");
    kdc.setAllowUdp(false);
    kdc.setKdcTcpPort(Integer.parseInt(arguments[1]));
    kdc.setWorkDir(folder);
    kdc.init();
    kdc.start();
    // A gateway asks for its key under the name of its machine, whatever address it listens on.
    String service = "hbase/" + InetAddress.getLocalHost().getCanonicalHostName();
    for (String name : new String[] {service, "ada"}) {
      kdc.createPrincipal(name + "@NEOMODEL.TEST");
      kdc.exportPrincipal(name + "@NEOMODEL.TEST", new File(folder, name.split("/")[0] + ".keytab"));
    }
    System.out.println("ready " + service);
    Thread.currentThread().join();
  }
}
