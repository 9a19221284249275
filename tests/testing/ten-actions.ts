import { actions } from '@waybell/catalog/actions';

/** Ten actions of shippers whose events say no more than the order they are about. */
export const tenActions: readonly string[] = actions
  .filter(({ receivers, feature }) => receivers.join() === 'shipper' && feature === undefined)
  .filter(({ example }) => Object.keys(example).join() === 'order_guid')
  .map(({ name }) => name)
  .slice(0, 10);
