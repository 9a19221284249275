import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Moment } from '../../parts/values.tsx';
import { STRETCHES } from '../../parts/words.ts';
import { AccountLink, WhyLink } from './links.tsx';
import { StopHost } from './stop-button.tsx';
import type { Failing } from './types.ts';
import { WaitingEndpoints } from './waiting-endpoints.tsx';

type FailingOriginRow = Failing['origins']['objects'][number] & Pick<Failing, 'since'>;
type UndeliveredRow = Failing['undelivered']['objects'][number];

const POLL_EVERY_MS = 10_000;
const MOST = 200;

/** Lists the origins at which attempts fail most, and the oldest unfinished deliveries. */
export function FailingPage() {
  const [ms, setMs] = useState<number>(STRETCHES['1 hour']);
  const failing = useAnswer(
    ['failing', ms],
    ({ operator }) =>
      operator.GET('/v1/admin/failing', {
        params: { query: { since: new Date(Date.now() - ms).toISOString(), limit: MOST } },
      }),
    { refetchInterval: POLL_EVERY_MS },
  );
  return (
    <Page title="Failing" tools={<Stretches chosen={ms} choose={setMs} />}>
      <Found of={failing} what="what fails">
        {(found) => <FailingSections failing={found} />}
      </Found>
    </Page>
  );
}

function Stretches({ chosen, choose }: { chosen: number; choose: (ms: number) => void }) {
  return (
    <div className="tools" role="group" aria-label="In the last">
      <span aria-hidden="true">In the last</span>
      {Object.entries(STRETCHES).map(([name, ms]) => (
        <button
          key={ms}
          type="button"
          className={ms === chosen ? 'main' : ''}
          aria-pressed={ms === chosen}
          onClick={() => choose(ms)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

function FailingSections({ failing: { since, origins, undelivered, waiting } }: { failing: Failing }) {
  const rows = useMemo(() => origins.objects.map((origin) => ({ ...origin, since })), [origins, since]);
  return (
    <>
      <section className="part" aria-labelledby="failing-origins">
        <h2 id="failing-origins">Where attempts fail most</h2>
        {rows.length === 0 ? (
          <Empty>No attempt failed.</Empty>
        ) : (
          <DataTable label="Endpoints that fail" rows={rows} columns={originColumns} keyOf={originOf} />
        )}
      </section>
      <section className="part" aria-labelledby="failing-undelivered">
        <h2 id="failing-undelivered">Oldest unfinished</h2>
        {undelivered.objects.length === 0 ? (
          <Empty>None unfinished.</Empty>
        ) : (
          <DataTable
            label="Oldest unfinished"
            rows={undelivered.objects}
            columns={undeliveredColumns}
            keyOf={({ guid }) => guid}
          />
        )}
      </section>
      <section className="part" aria-labelledby="failing-waiting">
        <h2 id="failing-waiting">Waiting for their endpoint</h2>
        <WaitingEndpoints endpoints={waiting.objects} />
      </section>
    </>
  );
}

const originOf = ({ account, origin }: FailingOriginRow) => `${account.guid} ${origin}`;
const share = ({ failed, attempts }: FailingOriginRow) => Math.round((100 * failed) / Math.max(1, attempts));

const originColumns: readonly TableColumn<FailingOriginRow>[] = [
  { header: 'Endpoint', value: ({ origin }) => origin, cell: ({ origin }) => <Foreign text={origin} /> },
  {
    header: 'Account',
    value: ({ account }) => account.name ?? account.guid,
    cell: ({ account }) => <AccountLink account={account} />,
  },
  {
    header: 'Failed',
    isNumber: true,
    value: ({ failed }) => failed,
    cell: ({ failed }) => failed.toLocaleString(),
  },
  {
    header: 'Attempts',
    isNumber: true,
    value: ({ attempts }) => attempts,
    cell: ({ attempts }) => attempts.toLocaleString(),
  },
  { header: 'Share', isNumber: true, value: share, cell: (origin) => `${share(origin)} %` },
  { header: 'Most frequent reason', value: ({ reason }) => reason, cell: ({ reason }) => <code>{reason}</code> },
  {
    // There is no list of attempts to link to.
    header: 'Deliveries',
    cell: ({ account, origin, since }) => (
      <Link
        to="/deliveries"
        search={{ status: 'retrying,exhausted,dropped', account: account.guid, endpoint: origin, since }}
      >
        Not delivered
      </Link>
    ),
  },
  { header: 'Host', cell: ({ origin }) => <StopHost url={origin} /> },
];

const undeliveredColumns: readonly TableColumn<UndeliveredRow>[] = [
  { header: 'Delivery', cell: ({ guid }) => <WhyLink guid={guid} /> },
  { header: 'Created', value: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
  { header: 'Action', value: ({ action }) => action, cell: ({ action }) => action },
  {
    header: 'Account',
    value: ({ account }) => account.name ?? account.guid,
    cell: ({ account }) => <AccountLink account={account} />,
  },
  { header: 'Attempts', isNumber: true, value: ({ attempts }) => attempts, cell: ({ attempts }) => attempts },
];
