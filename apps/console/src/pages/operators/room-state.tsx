import type { TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import type { WaitingDestination, WaitingEndpoint } from './types.ts';

type Room = Pick<WaitingEndpoint | WaitingDestination, 'shut_since' | 'is_claimed' | 'next_try_at'>;

/** Since when it takes nothing, and when it is tried next. */
export const stateColumn: TableColumn<Room> = {
  header: 'Next try',
  value: ({ shut_since }) => shut_since ?? '',
  cell: ({ shut_since, is_claimed, next_try_at }) => (
    <>
      {is_claimed || next_try_at === null ? 'being tried now' : <Moment at={next_try_at} />}
      {shut_since !== null && (
        <div className="small">
          takes nothing since <Moment at={shut_since} />
        </div>
      )}
    </>
  ),
};
