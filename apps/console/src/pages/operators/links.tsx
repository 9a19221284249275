import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid } from '../../parts/values.tsx';
import { placeOfClient } from '../../session/acting.ts';
import type { AccountName } from './types.ts';

/** An account by its name where it has one, which leads to it. */
export function AccountLink({ account: { guid, name } }: { account: AccountName }) {
  return (
    <Link to="/accounts/$guid" params={{ guid }} title={guid}>
      {name === null ? <Guid guid={guid} /> : <Foreign text={name} />}
    </Link>
  );
}

/** A guid that links to the history of its object; or the given children instead. */
export function WhyLink({ guid, children }: { guid: string; children?: ReactNode }) {
  return (
    <Link to="/why" search={{ text: guid }} title={guid}>
      {children ?? <Guid guid={guid} />}
    </Link>
  );
}

/** A client below its account. */
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
  /** The id of the client, unless said otherwise. */
  children?: ReactNode;
};

/** A page of a client's own, where an operator acts for it. */
export function ClientLink({ account, client, page = '', children }: ClientLinkProps) {
  return <a href={`#${placeOfClient({ account, client })}${page}`}>{children ?? <Foreign text={client} />}</a>;
}
