import { getRouteApi } from '@tanstack/react-router';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Moment, Status } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import type { Queue, WaitingDestination } from './types.ts';
import { RoomState, WaitingEndpoints } from './waiting-endpoints.tsx';

const route = getRouteApi('/queues');
const POLL_EVERY_MS = 4_000;
const MOST_ENDPOINTS = 200;

/** Shows all that has not passed the line: messages in queues, publications that RabbitMQ does not accept, deliveries that wait for endpoints. */
export function QueuesPage() {
  const { dashboardUrl } = route.useRouteContext();
  return (
    <Page
      title="Queues"
      tools={
        dashboardUrl !== undefined && (
          <a href={dashboardUrl} target="_blank" rel="noreferrer">
            Dashboard in Grafana
          </a>
        )
      }
    >
      <Queues />
      <Waiting />
    </Page>
  );
}

function Queues() {
  const queues = useAnswer(['queues'], ({ operator }) => operator.GET('/v1/admin/queues'), {
    refetchInterval: POLL_EVERY_MS,
  });
  return (
    <Found of={queues} what="the queues">
      {({ objects, waiting: destinations }) => {
        const filled = objects.filter((queue) => !isEmpty(queue)).toSorted(byNeed);
        const messages = objects.reduce((sum, each) => sum + each.messages, 0);
        return (
          <>
            <section className="part" aria-labelledby="queues-waiting">
              <h2 id="queues-waiting">{counted(messages, 'message')} waiting</h2>
              {filled.length === 0 ? (
                <Empty>All {objects.length} queues are empty.</Empty>
              ) : (
                <DataTable label="Queues with messages" rows={filled} columns={queueColumns} keyOf={queueName} />
              )}
              <Disclosure summary={<span>All {objects.length} queues</span>}>
                {() => <DataTable label="All queues" rows={objects} columns={queueColumns} keyOf={queueName} />}
              </Disclosure>
            </section>
            <section className="part" aria-labelledby="queues-destinations">
              <h2 id="queues-destinations">Buffered in Postgres (RabbitMQ not accepting)</h2>
              {destinations.objects.length === 0 ? (
                <Empty>None.</Empty>
              ) : (
                <DataTable
                  label="Destinations"
                  rows={destinations.objects}
                  columns={destinationColumns}
                  keyOf={destinationKey}
                />
              )}
            </section>
          </>
        );
      }}
    </Found>
  );
}

const isEmpty = ({ messages, is_known }: Queue) => is_known && messages === 0;
const byNeed = (a: Queue, b: Queue) => Number(a.is_known) - Number(b.is_known) || b.messages - a.messages;
const queueName = ({ name }: Queue) => name;

const queueColumns: readonly TableColumn<Queue>[] = [
  { header: 'Queue', value: queueName, cell: ({ name }) => <code>{name}</code> },
  {
    header: 'State',
    value: ({ is_known, messages }) => (is_known ? (messages === 0 ? 2 : 1) : 0),
    cell: ({ is_known, messages }) =>
      is_known ? <Status of={messages === 0 ? 'empty' : 'waiting'} /> : <Status of="not known" />,
  },
  {
    header: 'Messages',
    isNumber: true,
    value: ({ messages }) => messages,
    cell: ({ messages }) => messages.toLocaleString(),
  },
  { header: 'Consumers', isNumber: true, value: ({ consumers }) => consumers, cell: ({ consumers }) => consumers },
];

const destinationKey = ({ service, exchange, routing_key }: WaitingDestination) =>
  `${service} ${exchange} ${routing_key}`;

const destinationColumns: readonly TableColumn<WaitingDestination>[] = [
  { header: 'Service', value: ({ service }) => service, cell: ({ service }) => service },
  { header: 'Exchange', value: ({ exchange }) => exchange, cell: ({ exchange }) => <code>{exchange}</code> },
  {
    header: 'Routing key',
    value: ({ routing_key }) => routing_key,
    cell: ({ routing_key }) => <code>{routing_key}</code>,
  },
  { header: 'State', value: ({ shut_since }) => shut_since ?? '', cell: (room) => <RoomState room={room} /> },
  {
    header: 'Publications',
    isNumber: true,
    value: ({ publications }) => publications,
    cell: ({ publications }) => publications.toLocaleString(),
  },
  {
    header: 'Bytes',
    isNumber: true,
    value: ({ bytes }) => bytes,
    cell: ({ bytes }) => bytes.toLocaleString(),
  },
  { header: 'Oldest', value: ({ oldest_at }) => oldest_at, cell: ({ oldest_at }) => <Moment at={oldest_at} /> },
];

function Waiting() {
  const waiting = useAnswer(
    ['waiting'],
    ({ operator }) => operator.GET('/v1/admin/waiting', { params: { query: { limit: MOST_ENDPOINTS } } }),
    { refetchInterval: POLL_EVERY_MS },
  );
  return (
    <section className="part" aria-labelledby="queues-endpoints">
      <h2 id="queues-endpoints">Waiting for their endpoint</h2>
      <Found of={waiting} what="what waits for endpoints">
        {({ endpoints }) => <WaitingEndpoints endpoints={endpoints.objects} />}
      </Found>
    </section>
  );
}
