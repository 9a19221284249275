import { Foreign } from '../../../parts/text-block.tsx';
import { AccountLink, ClientLink } from '../links.tsx';
import type { Change } from '../types.ts';

/** The services that change something themselves, by their role at Postgres. */
const SERVICES: Readonly<Record<string, string>> = { 'role waybell_deactivator': 'Waybell (rule)' };

/** Who made a change: the client whose token it was, or where at the command line; what is known, as it stands, of others. */
export function Author({ change: { who, by, origin } }: { change: Change }) {
  if (by !== null) {
    return (
      <>
        <ClientLink account={by.account.guid} client={by.client_id} />{' '}
        <span className="small">
          <AccountLink account={by.account} />
        </span>
      </>
    );
  }
  const name = SERVICES[who];
  if (name !== undefined) return name;
  if (who !== 'command line') return <Foreign text={who} />;
  return <Foreign text={origin === null ? 'command line' : `command line by ${origin}`} />;
}
