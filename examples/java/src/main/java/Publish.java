import com.fasterxml.jackson.databind.ObjectMapper;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Publishes events, one JSON object a line of standard input, and prints the guid of each that the broker has confirmed. */
public class Publish {
  private static final ObjectMapper JSON = new ObjectMapper();
  /** User, password, virtual host, rights, size. */
  private static final List<String> REFUSALS = List.of("ACCESS_REFUSED", "NOT_ALLOWED", "PRECONDITION_FAILED");
  private final ConnectionFactory broker = new ConnectionFactory();
  private Connection connection;
  private Channel channel;

  Publish(String address) throws Exception {
    broker.setUri(address);
    broker.setAutomaticRecoveryEnabled(false); // what was not confirmed has to be sent again anyway
  }

  /** Returns once the event is safe. Until then the same bytes are sent again: Waybell recognises them by their guid. */
  String publish(byte[] body) throws Exception {
    var event = JSON.readTree(body);
    var guid = event.required("guid").asText();
    var key = event.required("interface").asText() + "." + event.required("action").asText();
    var properties = new BasicProperties.Builder().contentType("application/json").deliveryMode(2).messageId(guid).build();
    while (true) {
      try {
        if (channel == null) connect();
        channel.basicPublish("waybell.events", key, properties, body);
        channel.waitForConfirmsOrDie(10_000); // a broker in an alarm takes nothing: do not wait for it for ever
        return guid;
      } catch (IOException | TimeoutException | ShutdownSignalException error) {
        var answer = error + " " + error.getCause();
        if (REFUSALS.stream().anyMatch(answer::contains)) {
          System.err.println("refused by the broker, and next time too: " + answer);
          System.exit(1);
        }
        System.err.println(guid + " is not confirmed, and sent again: " + error);
        disconnect();
        Thread.sleep(1_000);
      }
    }
  }

  private void connect() throws IOException, TimeoutException {
    connection = broker.newConnection();
    channel = connection.createChannel();
    channel.exchangeDeclarePassive("waybell.events"); // throws where there is no line yet
    channel.confirmSelect();
  }

  private void disconnect() {
    if (connection != null) connection.abort(1_000);
    connection = null;
    channel = null;
  }

  public static void main(String[] arguments) throws Exception {
    var publisher = new Publish(System.getenv("AMQP_URL"));
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      System.out.println(publisher.publish(line.getBytes(StandardCharsets.UTF_8)));
    }
    publisher.disconnect();
  }
}
