import { readSchedule, scheduleSettings, type Schedule } from '@waybell/line/line-topology';
import { readEnvironment } from '@waybell/runtime/environment';
import type { TestStack } from './test-stack.ts';

/** The delays before retries that the services of this stack keep to. */
export const scheduleOf = ({ stack }: Pick<TestStack, 'stack'>): Schedule =>
  readSchedule(readEnvironment(scheduleSettings, stack.service('deliverer').spec.env));
