export type * from './events.ts';
export { JsonNumber } from '@waybell/events/json';
