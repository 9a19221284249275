import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';

type Language = {
  title: string;
  folder: string;
  fence: string;
  about: string;
  install: string;
  /** Reads a time of a notification. */
  time: string;
  publish: { file: string; run: string };
  receive: { file: string; run: string };
};

const languages: Language[] = [
  {
    title: 'Python',
    folder: 'python',
    fence: 'python',
    about:
      '[pika](https://pika.readthedocs.io/) and the library of [Standard Webhooks](https://www.standardwebhooks.com/)',
    install: 'python3 -m venv venv && venv/bin/pip install --requirement requirements.txt',
    time: '`datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")`',
    publish: { file: 'publish.py', run: 'venv/bin/python publish.py' },
    receive: { file: 'receive.py', run: 'venv/bin/python receive.py 8000' },
  },
  {
    title: 'Go',
    folder: 'go',
    fence: 'go',
    about:
      '[amqp091-go](https://pkg.go.dev/github.com/rabbitmq/amqp091-go) and the library of [Standard Webhooks](https://www.standardwebhooks.com/)',
    install: 'go build -o bin/ ./...',
    time: '`time.Parse("2006-01-02T15:04:05-0700", text)`',
    publish: { file: 'publish/main.go', run: 'bin/publish' },
    receive: { file: 'receive/main.go', run: 'bin/receive 8000' },
  },
  {
    title: 'Java',
    folder: 'java',
    fence: 'java',
    about:
      "RabbitMQ's [Java client](https://www.rabbitmq.com/client-libraries/java-api-guide) and the library of [Standard Webhooks](https://www.standardwebhooks.com/), on Java 17 or newer",
    install: 'mvn compile dependency:copy-dependencies',
    time: '`OffsetDateTime.parse(text, DateTimeFormatter.ofPattern("yyyy-MM-dd\'T\'HH:mm:ss[.SSSSSS][.SSS]xx"))`',
    publish: { file: 'src/main/java/Publish.java', run: "java -cp 'target/classes:target/dependency/*' Publish" },
    receive: { file: 'src/main/java/Receive.java', run: "java -cp 'target/classes:target/dependency/*' Receive 8000" },
  },
];

/** A page for each language that has no package, made of the example that is tested, by its path in the repository. */
export const languagePages: Record<string, () => Promise<string>> = Object.fromEntries(
  languages.map((language) => [`docs/languages/${language.folder}.md`, () => languagePage(language)]),
);

async function languagePage({
  title,
  folder,
  fence,
  about,
  install,
  time,
  publish,
  receive,
}: Language): Promise<string> {
  const code = async ({ file }: { file: string }) =>
    `\`\`\`${fence}\n${(await readFile(join(repository, 'examples', folder, file), 'utf8')).trimEnd()}\n\`\`\``;
  return `# ${title}

With ${about}. Both programs are in [examples/${folder}](../../examples/${folder}), and run by \`./waybell test tests/examples\`.

\`\`\`sh
${install}
\`\`\`

## Receive

\`SIGNING_SECRETS=whsec_… ${receive.run}\`, with the secret of \`GET /v1/signing-secrets\`; in a rotation both, parted by a comma.
How to subscribe, and what a receiver has to answer: [carrier](../receiving-carrier.md), [shipper](../receiving-shipper.md).

${await code(receive)}

Answer at once, and work afterwards: a carrier callback has 3 seconds, a shipper callback 60.

Times end in \`+0000\`, without a colon: ${time}.

## Publish

\`AMQP_URL=… ${publish.run} < events.jsonl\`, one event a line ([what it has to be](../publishing.md)). The program waits for each
confirm, sends again what has none ([when the broker refuses](../publishing.md#when-the-broker-refuses)), and stops where user,
rights or size are wrong, or a line is no JSON. What breaks the contract is confirmed all the same, and
[told in a queue](../publishing.md#what-was-rejected).

${await code(publish)}

An event that has to be published if, and only if, a transaction of your database commits, belongs in an
[outbox](../../packages/publisher/README.md#the-outbox).
`;
}
