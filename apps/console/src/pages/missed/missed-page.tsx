import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '../../api/client-api.d.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { PeriodField } from '../../parts/period-field.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { periodOf, type Period } from '../../parts/time.ts';
import { Moment, Status } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { ReplayForm } from '../subscriptions/replay-form.tsx';

const route = getRouteApi('/missed');

const ALL_ACTIONS = '*';

type MissedOfAction = components['schemas']['MissedOfAction'];

/** Deliveries that the client missed in a period, over all actions, and a button to send them. */
export function MissedPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [lastDay] = useState(() => periodOf('Last 24 hours', new Date()));
  const period = search.since === undefined ? lastDay : search;
  const missed = useAnswer(['missed', period], ({ client }) => client.GET('/v1/missed', { params: { query: period } }));
  return (
    <Page
      title="Missed"
      tools={
        <button type="button" disabled={missed.isFetching} onClick={() => void missed.refetch()}>
          Refresh
        </button>
      }
    >
      <div className="part">
        <PeriodField
          period={period}
          starts={search.since === undefined ? 'Last 24 hours' : undefined}
          choose={(chosen) => void navigate({ search: chosen })}
        />
        <Found of={missed} what="what was missed">
          {({ objects, counted_until: countedUntil }) => (
            <ByAction key={JSON.stringify(period)} rows={objects} period={period} countedUntil={countedUntil} />
          )}
        </Found>
      </div>
    </Page>
  );
}

type ByActionProps = { rows: readonly MissedOfAction[]; period: Period; countedUntil: string | null };

function ByAction({ rows, period, countedUntil }: ByActionProps) {
  const session = useSignedIn();
  const [columns] = useState(() => missedColumns(period));
  const total = rows.reduce((sum, { exhausted, dropped, suppressed }) => sum + exhausted + dropped + suppressed, 0);
  const replayable = rows.reduce((sum, row) => sum + toReplay(row), 0);
  if (rows.length === 0) return <Empty>Nothing was missed in this period.</Empty>;
  return (
    <>
      <p aria-live="polite">
        <strong>{total.toLocaleString()} missed</strong>, {counted(rows.length, 'action')}
      </p>
      <DataTable label="Missed, by action" rows={rows} columns={columns} keyOf={({ action }) => action} />
      {countedUntil !== null && (
        <p className="small">
          The oldest are counted, up to <Moment at={countedUntil} />: there is more after that.
        </p>
      )}
      {replayable < total && (
        <p className="small">
          {(total - replayable).toLocaleString()} of {total.toLocaleString()} cannot be replayed now: no subscription is
          on for them, or they are no longer kept. <Link to="/subscriptions">Subscriptions</Link>
        </p>
      )}
      {mayWrite(session) && replayable > 0 && (
        <section className="card stack" aria-label="Replay">
          <h2>Replay</h2>
          <ReplayForm action={ALL_ACTIONS} requestOf={(isIncluded) => requestOf(period, isIncluded)} />
        </section>
      )}
    </>
  );
}

const requestOf = ({ since = '', until }: Period, isIncluded: boolean) => ({
  action: ALL_ACTIONS,
  since,
  ...(until !== undefined && { until }),
  include_suppressed: isIncluded,
});

/** The columns for a period. Each count links to the deliveries that it counts. */
function missedColumns(period: Period): readonly TableColumn<MissedOfAction>[] {
  const countOf = (status: 'exhausted' | 'dropped') => (row: MissedOfAction) =>
    row[status] === 0 ? (
      '–'
    ) : (
      <Link to="/deliveries" search={{ ...period, status, action: row.action }}>
        {row[status].toLocaleString()}
      </Link>
    );
  return [
    { header: 'Action', value: ({ action }) => action, cell: ({ action }) => action },
    { header: 'Subscription', cell: (row) => <Standing of={row} /> },
    { header: 'Given up', isNumber: true, value: ({ exhausted }) => exhausted, cell: countOf('exhausted') },
    { header: 'Dropped', isNumber: true, value: ({ dropped }) => dropped, cell: countOf('dropped') },
    {
      header: 'Not sent',
      isNumber: true,
      value: ({ suppressed }) => suppressed,
      cell: ({ suppressed }) => (suppressed === 0 ? '–' : suppressed.toLocaleString()),
    },
    {
      header: 'No longer kept',
      isNumber: true,
      value: ({ gone }) => gone,
      cell: ({ gone }) => (gone === 0 ? '–' : gone.toLocaleString()),
    },
    {
      header: 'To replay',
      isNumber: true,
      value: toReplay,
      cell: (row) => <strong>{toReplay(row).toLocaleString()}</strong>,
    },
  ];
}

/** Number of deliveries that a replay would send to the current subscription: none without one, or while it is off. */
const toReplay = ({ is_active: isOn, exhausted, dropped, suppressed }: MissedOfAction): number =>
  isOn ? exhausted + dropped + suppressed : 0;

function Standing({ of: { subscription_guid: guid, is_active: isActive } }: { of: MissedOfAction }) {
  if (isActive) return <Status of="active" />;
  return (
    <span className="line">
      <Status of={guid === null ? 'none' : 'switched off'} />
      <Link to="/subscriptions">{guid === null ? 'Subscribe' : 'Switch on'}</Link>
    </span>
  );
}
