import { Command } from 'commander';
import { CA_OPTION, clientApi, type ApiCommandOptions } from '../client-api.ts';
import { describeForwarded } from '../listen/forward.ts';
import { listen, type ListenerView } from '../listen/listen.ts';
import { collected } from '../options.ts';
import { print, report } from '../print.ts';

type Options = ApiCommandOptions & {
  forwardTo: string;
  action?: string[];
  name: string;
  reachedAt?: string;
  json?: true;
};

export function listenCommand(): Command {
  return new Command('listen')
    .description('receive callbacks on this machine: it needs no address, only the API and a token')
    .requiredOption('-f, --forward-to <url>', 'your receiver, such as http://localhost:3000/hook')
    .option('-a, --action <pattern>', 'an action, * being any text; give it again for each (default: all)', collected)
    .option('--name <name>', 'tells several listeners of one client apart', '')
    .option('--api <url>', 'where the API is (default: API_URL, or that of the running stack)')
    .option('--token <token>', 'an access token that may write (default: WAYBELL_TOKEN)')
    .option('--reached-at <url>', 'where deliverers reach the API, if that is elsewhere')
    .option(...CA_OPTION)
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      [
        '',
        'Subscribes a client of its own, beside yours, and forwards its callbacks to your receiver: each with its headers, its body',
        'to the byte. What the receiver answers, the deliverer gets: failures are retried and logged as any. Redirects are not',
        'followed. Ctrl-C ends the subscriptions; without this program they end by themselves within a minute or so.',
        'HTTPS_PROXY, HTTP_PROXY and NO_PROXY count for the API, and for a receiver that is not on this machine.',
        '',
        'Example:',
        "  ./waybell listen --forward-to http://localhost:3000/hook --action 'order.*'",
        '',
      ].join('\n'),
    )
    .action(run);
}

async function run({ forwardTo, action, name, reachedAt, json, ...options }: Options): Promise<void> {
  const to = receiverAt(forwardTo);
  const api = clientApi(options, process.env, [to]);
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => halt.abort());
  await listen({
    api,
    to,
    request: JSON.stringify({ url: reachedAt ?? api.address, actions: action, name }),
    onBegun: (listener) => reportListener(listener, to),
    onForwarded: (callback) => print(json === true ? JSON.stringify(callback) : describeForwarded(callback)),
    say: report,
    signal: halt.signal,
  });
  report('ended, with its subscriptions');
}

function receiverAt(text: string): URL {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null) throw new Error(`"${text}" is no URL: --forward-to http://localhost:3000/hook`);
  return url;
}

function reportListener({ actions, signing_secret: secret, verification_token: token }: ListenerView, to: URL): void {
  report(`listening to ${actions.join(', ')}`);
  report(`forwarding to ${to.href}`);
  report(`your signing secret is ${secret} (of this listener; it stays the same)`);
  report(`X-Service-Verification-Token is ${token}`);
  report(`to try it, in another terminal: ./waybell trigger ${actions[0] ?? ''}; Ctrl-C ends this`);
}
