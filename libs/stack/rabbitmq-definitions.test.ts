import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { definitions } from './rabbitmq-definitions.ts';
import { MAX_MESSAGE_BYTES } from './rabbitmq.ts';
import { repository } from './stack-folder.ts';

/** One for each user, as compose passes them. */
const passwordFor = (user: string): string =>
  `\${RABBITMQ_${[...user.split('-').slice(1), 'PASSWORD'].join('_').toUpperCase()}:?make it with deploy/passwords.sh}`;

test('docker-compose.yml gives the users of RabbitMQ what the local stack gives them', () => {
  const file = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');
  const [, content = ''] = /&definitions \|\n((?: {2}.*\n)+)/.exec(file) ?? [];
  // Compose fills in what follows one dollar sign, and makes one of two.
  expect(JSON.parse(content.replaceAll('$$', '$'))).toEqual(definitions(passwordFor));
});

test.each(['docker-compose.yml', 'docs/operating/rabbitmq.md'])(
  '%s has the broker refuse what the local one does',
  (file) => {
    expect(readFileSync(join(repository, file), 'utf8')).toContain(`max_message_size = ${MAX_MESSAGE_BYTES}`);
  },
);
