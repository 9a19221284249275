export type * from './notifications.ts';
export { JsonNumber } from '@waybell/events/json';
