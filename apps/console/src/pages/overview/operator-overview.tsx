import { Link } from '@tanstack/react-router';
import { useTold } from '../../api/use-told.ts';
import { Moment } from '../../parts/moment.tsx';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { counted } from '../../parts/counted.ts';
import type { Overview } from '../operators/types.ts';
import { WaitingEndpoints } from '../operators/waiting-endpoints.tsx';
import { Attention } from './attention.tsx';
import { OperatorTiles } from './operator-tiles.tsx';
import { Services } from './services.tsx';

const LOOK_EVERY_MS = 15_000;

/** How the whole of it is now: what needs a person first, then figures that lead to what they count. */
export function OperatorOverview() {
  const overview = useTold(['overview'], ({ operator }) => operator.GET('/v1/admin/overview'), {
    refetchInterval: LOOK_EVERY_MS,
  });
  return (
    <Page
      title="Overview"
      tools={
        <span className="line">
          {overview.dataUpdatedAt > 0 && (
            <span className="small">
              As of <Moment at={new Date(overview.dataUpdatedAt).toISOString()} />
            </span>
          )}
          <button type="button" disabled={overview.isFetching} onClick={() => void overview.refetch()}>
            Refresh
          </button>
        </span>
      }
    >
      <Found of={overview} what="the overview">
        {(found) => <Figures overview={found} />}
      </Found>
    </Page>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { longest, endpoints } = overview.waiting;
  return (
    <>
      <Attention overview={overview} />
      <OperatorTiles overview={overview} />
      <section className="part" aria-labelledby="overview-waiting">
        <div className="line">
          <h2 id="overview-waiting">Waiting for their endpoint</h2>
          {endpoints > longest.objects.length && <Link to="/failing">All {endpoints.toLocaleString()} endpoints</Link>}
        </div>
        <WaitingEndpoints endpoints={longest.objects} />
      </section>
      <Services services={overview.services.objects} />
      <Queues queues={overview.queues} />
    </>
  );
}

function Queues({ queues }: Pick<Overview, 'queues'>) {
  return (
    <section className="part" aria-labelledby="overview-queues">
      <h2 id="overview-queues">Queues</h2>
      <p>
        {queues === null
          ? 'RabbitMQ does not say how many messages it holds.'
          : `${counted(queues.messages, 'message')} in RabbitMQ.`}{' '}
        <Link to="/queues">All queues</Link>
      </p>
    </section>
  );
}
