import { Link } from '@tanstack/react-router';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Moment } from '../../parts/values.tsx';
import { OwnerLinks, WhyLink } from './links.tsx';
import { StopButton, useStops } from './stop-button.tsx';
import type { Stops } from './types.ts';

type StoppedSubscriptionRow = Stops['subscriptions'][number];
type StoppedHostRow = Stops['hosts'][number];

/** Subscriptions and hosts that operators have stopped, why, and a button to start them. */
export function StopsPage() {
  const stops = useStops();
  return (
    <Page title="Stopped">
      <Found of={stops} what="what is stopped">
        {({ subscriptions, hosts }) => (
          <>
            <section className="part" aria-labelledby="stopped-hosts">
              <h2 id="stopped-hosts">Hosts</h2>
              {hosts.length === 0 ? (
                <Empty>
                  No host is stopped. To stop one, see <Link to="/failing">Failing</Link> or{' '}
                  <Link to="/switched-off">Switched off</Link>.
                </Empty>
              ) : (
                <DataTable label="Stopped hosts" rows={hosts} columns={hostColumns} keyOf={({ host }) => host} />
              )}
            </section>
            <section className="part" aria-labelledby="stopped-subscriptions">
              <h2 id="stopped-subscriptions">Subscriptions</h2>
              {subscriptions.length === 0 ? (
                <Empty>
                  No subscription is stopped. To stop one, see its <Link to="/accounts">account</Link>.
                </Empty>
              ) : (
                <DataTable
                  label="Stopped subscriptions"
                  rows={subscriptions}
                  columns={subscriptionColumns}
                  keyOf={({ guid }) => guid}
                />
              )}
            </section>
          </>
        )}
      </Found>
    </Page>
  );
}

function sinceAndWhy<T>(stopOf: (row: T) => { at: string; reason: string } | null): readonly TableColumn<T>[] {
  const at = (row: T) => stopOf(row)?.at ?? '';
  const reason = (row: T) => stopOf(row)?.reason ?? '';
  return [
    { header: 'Since', value: at, cell: (row) => <Moment at={at(row)} /> },
    { header: 'Reason', value: reason, cell: (row) => <Foreign text={reason(row)} /> },
  ];
}

const subscriptionsOf = ({ subscriptions }: StoppedHostRow) => subscriptions;

const hostColumns: readonly TableColumn<StoppedHostRow>[] = [
  { header: 'Host', value: ({ host }) => host, cell: ({ host }) => <Foreign text={host} /> },
  { header: 'Start', cell: ({ host }) => <StopButton what={{ kind: 'host', host }} /> },
  ...sinceAndWhy<StoppedHostRow>((row) => row),
  {
    header: 'Subscriptions',
    isNumber: true,
    value: subscriptionsOf,
    cell: (row) => subscriptionsOf(row).toLocaleString(),
  },
];

const subscriptionColumns: readonly TableColumn<StoppedSubscriptionRow>[] = [
  {
    header: 'Subscription',
    value: ({ action }) => action,
    cell: ({ guid, action }) => <WhyLink guid={guid}>{action}</WhyLink>,
  },
  { header: 'Start', cell: ({ guid, action }) => <StopButton what={{ kind: 'subscription', guid, action }} /> },
  ...sinceAndWhy<StoppedSubscriptionRow>(({ stopped }) => stopped),
  {
    header: 'Account, client',
    value: ({ account }) => account.name ?? account.guid,
    cell: (row) => <OwnerLinks {...row} />,
  },
  { header: 'URL', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
];
