import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { until } from '@waybell/runtime/testing/until';
import { curl, wordsFor } from '../testing/curl.ts';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { aBadDay, type BadDay } from './a-bad-day.ts';
import { stack } from './stand.ts';

/** Expected answers of the commands in docs/support.md, in the order of its questions. */
const ANSWERS: RegExp[] = [
  /order\.created .*\n.*about order_id 4711.*\n.*delivery \S+: given up after 4 attempts/,
  /"status":"exhausted".*"remedy":"Look in the receiver's log/,
  /number: 1 event.*--subject 4712 --kind number\n.*order_id: 1 event.*--subject 4712 --kind order_id\n/,
  /the event was rejected: envelope_invalid\n.*\/occurred_at/,
  /^(?=.*"curl":"curl )(?=.*"body":".*4711).*"http_status":500.*"duration_ms":\d+.*"answer":"Out of order"/,
  /"status":"retrying".*"next_attempt_at":"20/,
  /attempt 1 .*\n.*attempt 1 /,
  /^account \S+: carrier[^]* order\.created, client default: on, to /,
  /^subscription \S+: carrier order\.created, ended at [^]* switched off \(a delivery was given up\)\n[^]*this switched the subscription off/,
  /"status":"delivered".*"by_hand":"test"/,
  /"action":"order\.created","subscription_guid":"[^"]+","is_active":true,"exhausted":1,"dropped":0,"suppressed":1/,
  /^\{"total":2,"reasons":\[\{"reason":"http_5xx","count":1\},\{"reason":"switched_off","count":1\}\]\}$/,
  /"include_suppressed":true,.*"total":2,"published":\d,"delivered":\d/,
  /"total":2/,
  /"cancelled_at":"20/,
  /"attempt":6/,
  /client default {2}order\.delivered {2}0 given up, 0 dropped, 1 not sent {2}subscribed_later 1\n/,
  /"attempt":7/,
  /"what":"resend\.created".*"by":\{.*"deactivation_rule":"exhausted"/,
  /https?:\/\/127\.0\.0\.1:\d+ {2}\d+ of \d+ attempts failed, mostly http_5xx[^]*oldest unfinished:\n {2}20/,
  /stopped host receiver\.example\.com {2}0 subscriptions {2}its operator moves it until noon/,
  /^20\S+ {2}host receiver\.example\.com {2}0 subscriptions {2}its operator moves it until noon\n$/,
  /1 events are about it: deleted \d+ bodies/,
  /^subscriptions {2}\d+\nwaiting {2}\d+\ntokens {2}\d+\n[^]*nothing was ended of carrier account \S+/,
];

type Question = { question: string; command: string; answer: RegExp };

const page = readFileSync(join(repository, 'docs', 'support.md'), 'utf8');
const questions: Question[] = [...page.matchAll(/^### (.*?)\n.*?```sh\n(.*?)\n```/gms)].map(
  ([, question = '', command = ''], place) => ({ question, command, answer: ANSWERS[place] ?? /^$/ }),
);

/** Variables that the commands of the page use, such as `$DELIVERY`. */
let env: Record<string, string> = {};

/** Returns the command's output: its requests are made directly, as curl would make them. */
async function run(command: string): Promise<string> {
  const [, program = ''] = /^(?:\.\/)?(\w+)/.exec(command) ?? [];
  const [words = []] = wordsFor(program, command.replace(/^\.\//, ''), env);
  if (program === 'curl') return (await curl(words)).text();
  const { stdout, stderr } = await runWaybell(stack, words);
  return stdout + stderr;
}

/** Preparations of questions. */
const before: Record<number, () => Promise<unknown>> = {
  // A replay that is stopped sooner does not get through.
  15: () =>
    until('the replay is published', async () => (await run(questions[13]?.command ?? '')).includes('"published":2')),
  // Deliveries under way are not sent again.
  16: () => until('the replay got through', () => isDelivered('4711')),
  18: () =>
    until('attempt 6 got through', async () =>
      /"attempt":6,[^{}]*"kind":"delivered"/.test(await run(questions[4]?.command ?? '')),
    ),
};

/** Told to the carrier: an order of which a delivery got through. */
const isDelivered = async (key: string) =>
  (await run(`curl -H "Authorization: Bearer $TOKEN" "$API_URL/v1/deliveries?key=${key}"`)).includes(
    '"status":"delivered"',
  );

export function support(): void {
  describe('docs/support.md', () => {
    let day: BadDay;
    beforeAll(async () => {
      day = await aBadDay();
      ({ env } = day);
    });
    afterAll(() => day?.end());

    test('has an answer to each of its questions', () => {
      expect(questions).toHaveLength(24);
      expect(ANSWERS).toHaveLength(24);
    });

    test.each(questions.map((each, place) => [place + 1, each] as const))(
      'answers question %d',
      async (number, { command, answer }) => {
        await before[number]?.();
        // Commands that change something run once; queries are repeated until the log has the answer.
        const isAsking = !/-X|--yes/.test(command) || command.includes('dry_run');
        let said = await run(command);
        if (isAsking) {
          await until('it is said', async () => answer.test((said = await run(command)))).catch(() => undefined);
        }
        expect(said).toMatch(answer);
        if (number === 13) env['REPLAY'] = (JSON.parse(said) as { guid: string }).guid;
      },
    );
  });
}
