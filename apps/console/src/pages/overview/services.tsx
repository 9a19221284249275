import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import type { RunningService } from '../operators/types.ts';

/** The running services, by their connections to Postgres. */
export function Services({ services }: { services: readonly RunningService[] }) {
  return (
    <section className="part" aria-labelledby="overview-services">
      <h2 id="overview-services">Services</h2>
      <DataTable label="Services" rows={services} columns={columns} keyOf={({ service }) => service} />
      <p className="small">
        A process counts as long as it is connected to Postgres, which it asks every five seconds; one that has not for
        15 seconds does not answer. Whether each is ready says its own <code>/readyz</code>.
      </p>
    </section>
  );
}

const momentOr = (at: string | null, other: string) => (at === null ? other : <Moment at={at} />);

const columns: readonly TableColumn<RunningService>[] = [
  { header: 'Service', value: ({ service }) => service, cell: ({ service }) => service },
  {
    header: 'State',
    value: ({ processes }) => Math.min(processes, 1),
    cell: ({ processes, silent, silent_since: since }) => (
      <>
        {processes > silent && <Status of="running" />}
        {processes === 0 && <Status of="not running" />}
        {since !== null && (
          <div className="small">
            <Status of="not answering" /> {silent < processes && `${silent} of ${processes}`} since{' '}
            <Moment at={since} />
          </div>
        )}
      </>
    ),
  },
  { header: 'Processes', isNumber: true, value: ({ processes }) => processes, cell: ({ processes }) => processes },
  {
    header: 'Running since',
    cell: ({ started_at: at, last_started_at: last }) => (
      <>
        {momentOr(at, '–')}
        {last !== at && last !== null && (
          <div className="small">
            newest since <Moment at={last} />
          </div>
        )}
      </>
    ),
  },
  { header: 'Last seen', cell: ({ processes, seen_at: at }) => momentOr(at, processes === 0 ? '–' : 'connected') },
];
