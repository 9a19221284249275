import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { definitions } from './rabbitmq-definitions.ts';
import { repository } from './stack-folder.ts';

const PASSWORD = '${WAYBELL_PASSWORD:-waybell}';

test('docker-compose.yml gives the users of RabbitMQ what the local stack gives them', () => {
  const file = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');
  const [, content = ''] = /rabbitmq-definitions:\n {4}content: \|\n((?: {6}.*\n)+)/.exec(file) ?? [];
  // Compose fills in what follows one dollar sign, and makes one of two.
  expect(JSON.parse(content.replaceAll('$$', '$'))).toEqual(definitions(PASSWORD));
});
