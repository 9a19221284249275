import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** Receives notifications on the port given, and prints each that is genuine and new. */
public class Receive {
  // Numbers to the digit: an id may exceed 2^53, and 0.10 is not a binary fraction.
  private static final ObjectMapper JSON = JsonMapper.builder()
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
      .nodeFactory(JsonNodeFactory.withExactBigDecimals(true))
      .build();
  private static final Set<String> seen = ConcurrentHashMap.newKeySet(); // keep these in your database, with the work

  private final List<Webhook> secrets; // those of your client, for all its subscriptions: two while one is replaced by the other

  Receive(String secrets) {
    this.secrets = Stream.of(secrets.split("[,\\s]+")).map(Webhook::new).toList();
  }

  private boolean isGenuine(Headers headers, String body) {
    return secrets.stream().anyMatch(secret -> verifies(secret, headers, body));
  }

  private static boolean verifies(Webhook secret, Headers headers, String body) {
    try {
      secret.verify(body, headers);
      return true;
    } catch (WebhookVerificationException refused) {
      return false;
    }
  }

  // Takes +0000, without a colon, which Instant.parse and OffsetDateTime.parse refuse by themselves.
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss[.SSSSSS][.SSS]xx");

  private static void handle(JsonNode notification) {
    var field = notification.has("occurred_at") ? "occurred_at" : "action_date"; // of carriers; of shippers
    var at = OffsetDateTime.parse(notification.required(field).asText(), TIME).toInstant();
    System.out.println(notification.required("action").asText() + " at " + at + " " + notification);
  }

  private void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      var isGenuine = isGenuine(exchange.getRequestHeaders(), body);
      var id = exchange.getRequestHeaders().getFirst("webhook-id");
      if (isGenuine && "true".equals(exchange.getRequestHeaders().getFirst("X-Webhook-Test"))) {
        System.out.println("a test " + id); // nothing happened that it tells of
      } else if (isGenuine && !seen.contains(id)) {
        handle(JSON.readTree(body));
        seen.add(id); // not before: what fails comes again, and must not count as seen then
      }
      exchange.sendResponseHeaders(isGenuine ? 204 : 401, -1);
    }
  }

  public static void main(String[] arguments) throws IOException {
    var receiver = new Receive(System.getenv("SIGNING_SECRETS"));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
    server.createContext("/", receiver::receive);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort() + "/");
  }
}
