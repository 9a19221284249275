import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { until } from '@waybell/runtime/testing/until';
import { curl, wordsFor } from '../testing/curl.ts';
import { runWaybell } from '../testing/run-waybell.ts';
import { aBadDay, type BadDay } from './a-bad-day.ts';
import { stack } from './stand.ts';

/** Expected answers of the commands in docs/support.md, in the order of its questions. */
const ANSWERS: RegExp[] = [
  /order\.created .*\n.*about order_id 4711.*\n.*delivery \S+: given up after 4 attempts/,
  /"status":"exhausted".*"remedy":"Look in the receiver's log/,
  /about order_id 4711, .*vin 1HGCM82633A004352\n.*given up after 4 attempts/,
  /order\.assigned .*\n.*subject orders\/4715/,
  /number: 1 event.*--subject 4712 --kind number\n.*order_id: 1 event.*--subject 4712 --kind order_id\n/,
  /the event was rejected: envelope_invalid\n.*\/occurred_at/,
  /Carrier\.order\.created[^]*carrier\.order\.created/,
  /delivery \S+: given up after 4 attempts/,
  /^(?=.*"curl":"curl )(?=.*"body":".*4711).*"http_status":500.*"duration_ms":\d+.*"answer":"Out of order"/,
  /"status":"retrying".*"next_attempt_at":"20/,
  /attempt 1 .*\n.*attempt 1 /,
  /no_subscription, switched_off since 20.* \(subscription \S+, a delivery was given up\)\n.*switch the subscription on/,
  /^subscription \S+: carrier order\.created, ended at [^]* switched off \(a delivery was given up\)\n[^]*this switched the subscription off/,
  /"reason":"no_subscription".*"cause":"never_subscribed"/,
  /not sent to account \S+: no_subscription, unknown_account\n/,
  /"status":"delivered".*"by_hand":"test"/,
  /"action":"order\.created","subscription_guid":"[^"]+","is_active":true,"exhausted":1,"dropped":0,"suppressed":1/,
  /^\{"total":1,"reasons":\[\{"reason":"http_5xx","count":1\}\]\}$/,
  /"include_suppressed":false,.*"total":1,"published":\d,"delivered":\d/,
  /"total":1/,
  /"cancelled_at":"20/,
  /^\{"total":1,"reasons":\[\{"reason":"switched_off","count":1\}\]\}$/,
  /"include_suppressed":true,.*"total":1/,
  /^\{"total":1,"reasons":\[\{"reason":"subscribed_later","count":1\}\]\}$/,
  /^\{"total":0,"reasons":\[\],"explanation":"Failed deliveries of order\.created in that time: 1 \(delivered since: 1\)\."\}$/,
  /"attempt":6/,
  /"kind":"events".*"kind":"order_id","key":"4711"|"kind":"events".*"key":"4711","kind":"order_id"/,
  /"deactivation_rule":"exhausted"/,
  /https?:\/\/127\.0\.0\.1:\d+ {2}\d+ of \d+ attempts failed, mostly http_5xx[^]*oldest unfinished:\n {2}20/,
  /1 events are about it: deleted \d+ bodies/,
  /stopped host receiver\.example\.com {2}0 subscriptions {2}its operator moves it until noon/,
  /^20\S+ {2}host receiver\.example\.com {2}0 subscriptions {2}its operator moves it until noon\n$/,
  /client default {2}order\.delivered {2}0 given up, 0 dropped, 1 not sent {2}subscribed_later 1\n/,
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
  // A subscription that is stopped earlier does not get through.
  21: () =>
    until('the replay is published', async () => (await run(questions[19]?.command ?? '')).includes('"published":1')),
  // Deliveries under way are not counted, and the next replay would send them too.
  22: () => until('the replay got through', () => isDelivered('4711')),
  25: () => until('the second replay got through', () => isDelivered('4713')),
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

    test('has an answer to thirty-three questions', () => {
      expect(questions).toHaveLength(33);
      expect(ANSWERS).toHaveLength(33);
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
        if (number === 19) env['REPLAY'] = (JSON.parse(said) as { guid: string }).guid;
      },
    );
  });
}
