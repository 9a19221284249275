import { useTold } from '../../api/use-told.ts';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { AccountLink, WhyLink } from './links.tsx';
import type { SwitchedOff } from './types.ts';

const LOOK_EVERY_MS = 15_000;
const MOST = 200;

/** Which subscriptions a rule has switched off and nobody has switched on since, the last one first. */
export function SwitchedOffPage() {
  const off = useTold(
    ['switched-off'],
    ({ operator }) => operator.GET('/v1/admin/switched-off', { params: { query: { limit: MOST } } }),
    { refetchInterval: LOOK_EVERY_MS },
  );
  return (
    <Page title="Switched off">
      <Found of={off} what="what is switched off">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>No subscription is switched off.</Empty>
          ) : (
            <>
              <DataTable label="Switched-off subscriptions" rows={objects} columns={columns} keyOf={guidOf} />
              {objects.length === MOST && <p className="small">There may be more than these {MOST}.</p>}
            </>
          )
        }
      </Found>
    </Page>
  );
}

const guidOf = ({ guid }: SwitchedOff) => guid;

/** As people call the rules, whose numbers are settings. */
const RULES = { exhausted: 'a delivery was given up', window: 'every delivery of a whole stretch failed' } as const;

const columns: readonly Column<SwitchedOff>[] = [
  { header: 'Subscription', cell: ({ guid }) => <WhyLink guid={guid} /> },
  {
    header: 'Since',
    value: ({ switched_off_at }) => switched_off_at,
    cell: ({ switched_off_at }) => <Moment at={switched_off_at} />,
  },
  {
    header: 'Rule',
    value: ({ rule }) => rule,
    cell: ({ rule }) => (
      <>
        <code>{rule}</code> {RULES[rule]}
      </>
    ),
  },
  {
    header: 'Delivery that did it',
    cell: ({ delivery_guid }) => (delivery_guid === null ? 'not known' : <WhyLink guid={delivery_guid} />),
  },
  {
    header: 'Account',
    value: ({ account }) => account.name ?? account.guid,
    cell: ({ account }) => <AccountLink account={account} />,
  },
  { header: 'Client', value: ({ client_id }) => client_id, cell: ({ client_id }) => <Foreign text={client_id} /> },
  {
    header: 'Action',
    value: ({ action }) => action,
    cell: ({ action, interface: through }) => (
      <>
        {action} <span className="tag">{through}</span>
      </>
    ),
  },
  { header: 'Endpoint', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
];
