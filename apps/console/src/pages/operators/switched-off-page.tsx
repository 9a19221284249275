import { getRouteApi, Link } from '@tanstack/react-router';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Moment } from '../../parts/values.tsx';
import { ruleInWords } from '../../parts/words.ts';
import { OwnerLinks, WhyLink } from './links.tsx';
import { StopHost } from './stop-button.tsx';
import type { HeldDeactivation, SwitchedOff } from './types.ts';

const POLL_EVERY_MS = 15_000;
const MOST = 200;

const route = getRouteApi('/switched-off');

/** Subscriptions that a rule has switched off and nobody has switched on since, and those whose deactivation is held back. */
export function SwitchedOffPage() {
  const { since } = route.useSearch();
  const query = { limit: MOST };
  const off = useAnswer(
    ['switched-off'],
    ({ operator }) => operator.GET('/v1/admin/switched-off', { params: { query } }),
    { refetchInterval: POLL_EVERY_MS },
  );
  const heldBack = useAnswer(
    ['held-deactivations'],
    ({ operator }) => operator.GET('/v1/admin/held-deactivations', { params: { query } }),
    { refetchInterval: POLL_EVERY_MS },
  );
  return (
    <Page title="Switched off">
      <Found of={heldBack} what="what is held">
        {({ objects }) =>
          objects.length > 0 && (
            <>
              <p>
                Held: so many would be switched off at once that the fault may be ours. Fix the fault, then run{' '}
                <code>./waybell deactivations discard</code>, or <code>release</code> to switch them off.
              </p>
              <DataTable label="Held subscriptions" rows={objects} columns={heldBackColumns} keyOf={guidOf} />
            </>
          )
        }
      </Found>
      <Found of={off} what="what is switched off">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>No subscription is switched off.</Empty>
          ) : (
            <>
              {since !== undefined && (
                <p className="line">
                  Switched off since <Moment at={since} /> <Link to="/switched-off">All that are off</Link>
                </p>
              )}
              <DataTable
                label="Switched-off subscriptions"
                rows={objects.filter(({ switched_off_at: at }) => Date.parse(at) >= Date.parse(since ?? at))}
                columns={offColumns}
                keyOf={guidOf}
              />
              {objects.length === MOST && <p className="small">There may be more than these {MOST}.</p>}
            </>
          )
        }
      </Found>
    </Page>
  );
}

type RuledSubscriptionRow = Omit<SwitchedOff, 'switched_off_at'>;

const guidOf = ({ guid }: RuledSubscriptionRow) => guid;

const subscription: TableColumn<RuledSubscriptionRow> = {
  header: 'Subscription',
  value: ({ action }) => action,
  cell: ({ guid, action, interface: through }) => (
    <>
      <WhyLink guid={guid}>{action}</WhyLink> <span className="tag">{through}</span>
    </>
  ),
};

const others: readonly TableColumn<RuledSubscriptionRow>[] = [
  {
    header: 'Cause',
    value: ({ rule }) => rule,
    cell: ({ rule, delivery_guid }) => (
      <>
        <span className="phrase">{ruleInWords(rule)}</span>
        {delivery_guid !== null && (
          <div>
            <WhyLink guid={delivery_guid} />
          </div>
        )}
      </>
    ),
  },
  {
    header: 'Account, client',
    value: ({ account }) => account.name ?? account.guid,
    cell: (row) => <OwnerLinks {...row} />,
  },
  { header: 'URL', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
  { header: 'Host', cell: ({ url }) => <StopHost url={url} /> },
];

const offColumns: readonly TableColumn<SwitchedOff>[] = [
  subscription,
  {
    header: 'Since',
    value: ({ switched_off_at }) => switched_off_at,
    cell: ({ switched_off_at }) => <Moment at={switched_off_at} />,
  },
  ...others,
];

const heldBackColumns: readonly TableColumn<HeldDeactivation>[] = [
  subscription,
  { header: 'Held since', value: ({ held_at }) => held_at, cell: ({ held_at }) => <Moment at={held_at} /> },
  ...others,
];
