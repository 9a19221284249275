import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid } from '../../parts/values.tsx';
import { placeOfClient } from '../../session/acting.ts';
import type { AccountName } from './types.ts';

/** A link to an account, by its name or, without one, its guid. */
export function AccountLink({ account: { guid, name } }: { account: AccountName }) {
  return (
    <Link to="/accounts/$guid" params={{ guid }} title={guid}>
      {name === null ? <Guid guid={guid} /> : <Foreign text={name} />}
    </Link>
  );
}

/** A link to the history of any object, by its guid or with the given children. */
export function WhyLink({ guid, children }: { guid: string; children?: ReactNode }) {
  return (
    <Link to="/why" search={{ text: guid }} title={guid}>
      {children ?? <Guid guid={guid} />}
    </Link>
  );
}

/** A link to an account, and below it one to the client. */
export function OwnerLinks({ account, client_id: client }: { account: AccountName; client_id: string }) {
  return (
    <>
      <AccountLink account={account} />
      <div className="small">
        <ClientLink account={account.guid} client={client} page="/subscriptions" />
      </div>
    </>
  );
}

type ClientLinkProps = {
  account: string;
  client: string;
  /** Such as `/missed`; left out, the client's overview. */
  page?: string;
  /** The id of the client unless given. */
  children?: ReactNode;
};

/** A link to a client's own page, where the operator acts for it. */
export function ClientLink({ account, client, page = '', children }: ClientLinkProps) {
  return <a href={`#${placeOfClient({ account, client })}${page}`}>{children ?? <Foreign text={client} />}</a>;
}
