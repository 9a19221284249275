import { describe, expect, test } from '@jest/globals';
import { findChromium, type BrowserMachine } from './programs.ts';

const aMachine = (offers: Partial<BrowserMachine> = {}): BrowserMachine => ({
  isExecutable: () => false,
  findOnPath: () => undefined,
  install: async () => false,
  ...offers,
});
const withPrograms = (...names: string[]) => ({
  findOnPath: (name: string) => (names.includes(name) ? `/bin/${name}` : undefined),
});
const never = () => {
  throw new Error('asked');
};

describe('findChromium', () => {
  test('takes what the environment names before what is on the path', async () => {
    const machine = aMachine({ findOnPath: never, isExecutable: (file) => file === '/opt/chrome' });
    expect(await findChromium({ WAYBELL_CHROMIUM: '/opt/chrome' }, machine)).toBe('/opt/chrome');
  });

  test('says so where the environment names what is no program, and takes no other', async () => {
    const found = findChromium({ WAYBELL_CHROMIUM: '/opt/chrome' }, aMachine(withPrograms('chromium')));
    await expect(found).rejects.toThrow('WAYBELL_CHROMIUM names /opt/chrome, which is no program');
  });

  test('takes the first on the path and installs nothing; an empty variable names nothing', async () => {
    const machine = aMachine({ ...withPrograms('google-chrome', 'chromium-browser'), install: never });
    expect(await findChromium({ WAYBELL_CHROMIUM: '' }, machine)).toBe('/bin/chromium-browser');
  });

  test('takes that without windows before others', async () => {
    const machine = aMachine({ ...withPrograms('chromium', 'chromium-headless-shell'), install: never });
    expect(await findChromium({}, machine)).toBe('/bin/chromium-headless-shell');
  });

  test.each([
    { has: ['chromium-headless-shell', 'chromium'], found: 'chromium-headless-shell' },
    { has: ['chromium'], found: 'chromium' },
  ])('installs a package of $has where there is none, and looks again', async ({ has, found }) => {
    const installed: string[] = [];
    const machine = aMachine({
      findOnPath: (name) => withPrograms(...installed).findOnPath(name),
      install: async ([name = '']) => has.includes(name) && installed.push(name) > 0,
    });
    expect(await findChromium({}, machine)).toBe(`/bin/${found}`);
    expect(installed).toEqual([found]);
  });

  test('says every way when there is none', async () => {
    await expect(findChromium({}, aMachine())).rejects.toThrow(/no chromium[^]*install Chromium[^]*WAYBELL_CHROMIUM/);
  });
});
