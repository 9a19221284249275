import { Foreign } from '../../../parts/text-block.tsx';
import { AccountLink, ClientLink } from '../links.tsx';
import type { Change } from '../types.ts';

/** The service that changes subscriptions itself, by its role or user at Postgres. */
const DEACTIVATOR = /^(role|user) waybell[_-]deactivator$/;

/** The author of a change: the client of the token, or the user at a command line; for others, the text in the log. */
export function Author({ change: { who, by, origin } }: { change: Change }) {
  if (by !== null) {
    return (
      <>
        <ClientLink account={by.account.guid} client={by.client_id} />
        <div className="small">
          <AccountLink account={by.account} />
        </div>
      </>
    );
  }
  if (DEACTIVATOR.test(who)) return 'Waybell, by its rules';
  if (who !== 'command line') return <Foreign text={who} />;
  return <Foreign text={origin === null ? 'command line' : `command line by ${origin}`} />;
}
