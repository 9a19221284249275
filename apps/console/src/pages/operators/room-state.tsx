import type { TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import type { WaitingDestination, WaitingEndpoint } from './types.ts';

type Room = Pick<WaitingEndpoint | WaitingDestination, 'shut_since' | 'is_claimed' | 'next_try_at'>;

/** Whether a room takes anything, and who sees to it. */
export const stateColumn: TableColumn<Room> = {
  header: 'State',
  value: ({ shut_since }) => shut_since ?? '',
  cell: ({ shut_since, is_claimed, next_try_at }) => (
    <>
      <Status of={shut_since === null ? 'open' : 'shut'} /> {shut_since !== null && <Moment at={shut_since} />}
      <div className="small">
        {is_claimed || next_try_at === null ? (
          'a process has it in hand'
        ) : (
          <>
            next try <Moment at={next_try_at} />
          </>
        )}
      </div>
    </>
  ),
};
