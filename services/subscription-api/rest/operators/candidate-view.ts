import type { SearchMatch } from '@waybell/delivery-log/read/search-match';
import { moment } from '../deliveries/history-view.ts';

type Called = (account: string) => { guid: string; name: string | null };

/** One of several things that a text may mean, with the names of accounts. */
export function candidateView(found: SearchMatch, called: Called) {
  const { kind } = found;
  const at = moment(found.at);
  switch (kind) {
    case 'key':
      return { kind, key: found.key, key_kind: found.keyKind, events: found.events, at };
    case 'account':
      return { kind, guid: found.account, interface: found.interface, name: found.name, at };
    case 'event':
      return { kind, guid: found.event, ...madeOf(found), at };
    case 'delivery':
      return { kind, guid: found.delivery, ...ownedBy(found, called), ...madeOf(found), at };
    case 'subscription':
      return { kind, guid: found.subscription, ...ownedBy(found, called), ...madeOf(found), url: found.url, at };
  }
}

const madeOf = ({ interface: interfaceName, action }: Extract<SearchMatch, { action: string }>) => ({
  interface: interfaceName,
  action,
});

const ownedBy = ({ account, client }: { account: string; client: string }, called: Called) => ({
  account: called(account),
  client_id: client,
});
