import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { rabbitmq } from './rabbitmq.ts';
import { makeFolders, stackFolder } from './stack-folder.ts';
import { readRecord } from './stack-record.ts';

test('says at once that RabbitMQ cannot run in a folder with a quote in its name, for which it would wait for ever', async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), 'waybell-servers-'));
  const folder = stackFolder(join(parent.path, "ann's"));
  makeFolders(folder);
  const setup = { folder, record: readRecord(folder), binary: '/bin/rabbitmq-server', isThrowaway: true };
  expect(() => rabbitmq(setup)).toThrow(/ann's" because of the ' in it: set WAYBELL_HOME/);
});
