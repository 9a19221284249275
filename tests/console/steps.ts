import type { Page } from 'playwright-core';

/** Single actions of a person with the mouse or the keyboard. */
const INTERACTIONS: ReadonlySet<string> = new Set([
  'click',
  'dblclick',
  'tap',
  'check',
  'uncheck',
  'setChecked',
  'selectOption',
  'fill',
  'clear',
  'press',
  'pressSequentially',
  'type',
]);

/** The same page, which counts each click, each filled field and each pressed key, by whatever locator it was done. */
export function counting(page: Page): { page: Page; count: () => number } {
  let steps = 0;
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== 'function') return name === 'keyboard' && isObject(value) ? counted(value) : value;
        return (...given: unknown[]) => {
          if (INTERACTIONS.has(String(name))) steps += 1;
          const answer: unknown = Reflect.apply(value, of, given);
          return isLocator(answer) ? counted(answer) : answer;
        };
      },
    });
  return { page: counted(page), count: () => steps };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Locators alone can be narrowed down; promises are what they are. */
const isLocator = (value: unknown): value is object => isObject(value) && 'getByRole' in value;
