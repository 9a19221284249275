import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Moment } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { AccountEnd, AccountFacts } from './account-facts.tsx';
import { AccountTokens } from './account-tokens.tsx';
import { ClientLink, WhyLink } from './links.tsx';
import { StopButton } from './stop-button.tsx';
import { SubscriptionStanding } from './subscription-standing.tsx';
import type { Account, AccountClient, OperatorSubscription } from './types.ts';

const route = getRouteApi('/accounts/$guid');

const PAGE_SIZE = 100;

/** An account: its clients with links to their pages, its subscriptions, its tokens, its name and its features. */
export function AccountPage() {
  const { guid } = route.useParams();
  const account = useAnswer(['account', guid], ({ operator }) =>
    operator.GET('/v1/admin/accounts/{guid}', { params: { path: { guid } } }),
  );
  return (
    <Page
      title={account.data?.name ?? `Account ${guid.slice(0, 8)}`}
      tools={
        <span className="line">
          <Link to="/deliveries" search={{ account: guid }}>
            Deliveries
          </Link>
          <Link to="/audit" search={{ account: guid }}>
            Audit log
          </Link>
        </span>
      }
    >
      <Found of={account} what="the account">
        {(found) => <Details account={found} />}
      </Found>
    </Page>
  );
}

function Details({ account }: { account: Account }) {
  const { guid, name, features } = account;
  return (
    <>
      <p className="calm line">
        <span className="tag">{account.interface}</span>
        {features.map((feature) => (
          <span key={feature} className="tag">
            {feature}
          </span>
        ))}
        <code className="quietly">{guid}</code>
      </p>
      <AccountClients account={guid} />
      <AccountSubscriptions account={guid} />
      <AccountTokens guid={guid} />
      <AccountFacts key={`${guid} ${name} ${features.join(' ')}`} account={account} />
      <AccountEnd account={account} />
    </>
  );
}

/** The clients of an account, each with links to its own pages, where the operator acts for it. */
function AccountClients({ account }: { account: string }) {
  const clients = useAnswer(['clients', account], ({ operator }) =>
    operator.GET('/v1/admin/accounts/{guid}/clients', { params: { path: { guid: account } } }),
  );
  return (
    <section className="part" aria-labelledby="account-clients">
      <h2 id="account-clients">Clients</h2>
      <Found of={clients} what="the clients">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>No clients yet: a client begins with an access token.</Empty>
          ) : (
            <DataTable
              label="Clients"
              rows={objects.map((client) => ({ ...client, account }))}
              columns={clientColumns}
              keyOf={({ client_id }) => client_id}
            />
          )
        }
      </Found>
    </section>
  );
}

const CLIENT_PAGES = [
  { name: 'Deliveries', page: '/deliveries' },
  { name: 'Missed', page: '/missed' },
  { name: 'Subscriptions', page: '/subscriptions' },
] as const;

type ClientRow = AccountClient & { account: string };

const clientColumns: readonly TableColumn<ClientRow>[] = [
  {
    header: 'Client',
    value: ({ client_id }) => client_id,
    cell: ({ account, client_id }) => <ClientLink account={account} client={client_id} />,
  },
  {
    header: 'Open as the client',
    cell: ({ account, client_id }) => (
      <span className="line">
        {CLIENT_PAGES.map(({ name, page }) => (
          <ClientLink key={page} account={account} client={client_id} page={page}>
            {name}
          </ClientLink>
        ))}
      </span>
    ),
  },
  {
    header: 'Subscriptions',
    isNumber: true,
    value: ({ subscriptions }) => subscriptions,
    cell: ({ account, client_id, subscriptions }) => (
      <ClientLink account={account} client={client_id} page="/subscriptions">
        {subscriptions.toLocaleString()}
      </ClientLink>
    ),
  },
  {
    header: 'Switched off',
    isNumber: true,
    value: ({ switched_off }) => switched_off,
    cell: ({ account, client_id, switched_off }) =>
      switched_off === 0 ? (
        '0'
      ) : (
        <ClientLink account={account} client={client_id} page="/subscriptions">
          <strong className="bad">{switched_off.toLocaleString()}</strong>
        </ClientLink>
      ),
  },
  {
    header: 'Token last used',
    value: ({ token_last_used_at: at }) => at ?? '',
    cell: ({ tokens, token_last_used_at: at }) =>
      at === null ? tokens === 0 ? 'no valid token' : 'never' : <Moment at={at} />,
  },
];

/** Current and ended subscriptions of an account, in pages. */
function useAccountSubscriptions(guid: string) {
  const { api } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['subscriptions of', guid],
    queryFn: ({ pageParam: cursor }) =>
      answerOf(
        api.operator.GET('/v1/admin/accounts/{guid}/subscriptions', {
          params: { path: { guid }, query: { limit: PAGE_SIZE, ...(cursor !== '' && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ objects }) => objects),
  });
}

/** The current subscriptions of an account, and below them the ended ones. */
function AccountSubscriptions({ account }: { account: string }) {
  const pages = useAccountSubscriptions(account);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  return (
    <section className="part" aria-labelledby="account-subscriptions">
      <h2 id="account-subscriptions">Subscriptions</h2>
      <Found of={pages} what="the subscriptions">
        {(subscriptions) => (
          <>
            <Subscriptions subscriptions={subscriptions} />
            {hasNextPage && (
              <div className="tools">
                <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                  {isFetchingNextPage ? 'Loading …' : 'Load more'}
                </button>
              </div>
            )}
          </>
        )}
      </Found>
    </section>
  );
}

function Subscriptions({ subscriptions }: { subscriptions: readonly OperatorSubscription[] }) {
  const current = subscriptions.filter(({ ended_at }) => ended_at === null);
  const ended = subscriptions.filter(({ ended_at }) => ended_at !== null);
  return (
    <>
      {current.length === 0 ? <Empty>No current subscriptions.</Empty> : <SubscriptionTable subscriptions={current} />}
      {ended.length > 0 && (
        <Disclosure summary={<span>{counted(ended.length, 'ended subscription')}</span>}>
          {() => <SubscriptionTable subscriptions={ended} label="Ended subscriptions" />}
        </Disclosure>
      )}
    </>
  );
}

/** Subscriptions, those that need a person first. */
function SubscriptionTable({
  subscriptions,
  label = 'Subscriptions',
}: {
  subscriptions: readonly OperatorSubscription[];
  label?: string;
}) {
  const rows = subscriptions.toSorted((a, b) => calmnessOf(a) - calmnessOf(b) || a.action.localeCompare(b.action));
  return <DataTable label={label} rows={rows} columns={subscriptionColumns} keyOf={({ guid }) => guid} />;
}

const subscriptionColumns: readonly TableColumn<OperatorSubscription>[] = [
  {
    header: 'Subscription',
    value: ({ action }) => action,
    cell: ({ guid, action, account, client_id }) => (
      <>
        <WhyLink guid={guid}>{action}</WhyLink>
        <div className="small">
          <ClientLink account={account.guid} client={client_id} page="/subscriptions" />
        </div>
      </>
    ),
  },
  {
    header: 'State',
    value: calmnessOf,
    cell: (subscription) => <SubscriptionStanding subscription={subscription} />,
  },
  { header: 'URL', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
  {
    header: 'Failing since',
    value: ({ failing_since }) => failing_since ?? '',
    cell: ({ failing_since }) => failing_since && <Moment at={failing_since} />,
  },
  {
    header: 'Last success',
    value: ({ last_success_at }) => last_success_at ?? '',
    cell: ({ last_success_at }) => last_success_at && <Moment at={last_success_at} />,
  },
  {
    header: 'Stop',
    cell: ({ guid, action, ended_at }) =>
      ended_at === null && <StopButton what={{ kind: 'subscription', guid, action }} />,
  },
];

/** The lower, the more a subscription needs a person. */
function calmnessOf({ standing, stopped, failing_since, paused_until }: OperatorSubscription): number {
  if (standing === 'switched_off') return 0;
  if (stopped !== null) return 1;
  if ((failing_since ?? null) !== null) return 2;
  if (paused_until !== null) return 3;
  return standing === 'active' ? 4 : 5;
}
