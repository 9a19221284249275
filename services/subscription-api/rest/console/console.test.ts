import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { silentLog } from '@waybell/runtime/testing/patience';
import { httpServer } from '@waybell/runtime/testing/server';
import { answerProblems } from '../http/problem.ts';
import { consoleRoutes, type ConsoleSettings } from './console.ts';

const signIn = {
  issuer: 'https://login.example.com/realm',
  clientId: 'console',
  scope: 'webhooks:read',
  audience: 'waybell',
  origins: ['https://token.example.com'],
};
const script = `console.log("${'waybell '.repeat(1_000)}")`;

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybell-console-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Waybell</title>');
  await writeFile(join(folder, 'assets', 'index-1a2b3c.js'), script);
});

afterAll(() => rm(folder, { recursive: true }));

describe('consoleRoutes', () => {
  test('serve the page, which is asked for again each time, under a policy that runs nothing but its own files', async () => {
    await using served = await serve({ view: 'client' });
    const page = await served.ask('console/');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<title>Waybell</title>');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy).not.toMatch(/unsafe|\*/);
  });

  test('let what has a hash in its name be kept for ever, and send it compressed', async () => {
    await using served = await serve({ view: 'client' });
    const file = await served.ask('console/assets/index-1a2b3c.js');
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-encoding')).toMatch(/^(br|gzip)$/);
    expect(await file.text()).toBe(script);
  });

  test('lead to the page from the address without its last slash, under any path of a proxy', async () => {
    await using served = await serve({ view: 'client' });
    const { status, headers } = await served.ask('console');
    expect([status, headers.get('location')]).toEqual([308, 'console/']);
  });

  test('say where people sign in, and let the page ask there', async () => {
    await using served = await serve({ view: 'client', signIn });
    expect(await (await served.ask('console/settings.json')).json()).toEqual({ view: 'client', signIn });
    const { headers } = await served.ask('console/');
    expect(headers.get('content-security-policy')).toContain(
      "connect-src 'self' https://login.example.com https://token.example.com;",
    );
  });

  test('let no page frame the page, unless its origin is among the parents', async () => {
    const framing = async (parents: string[], path: string) => {
      await using served = await serve({ view: 'client' }, { parents });
      const { headers } = await served.ask(path);
      const policy = headers.get('content-security-policy') ?? '';
      return [policy.split('; ').find((each) => each.startsWith('frame-ancestors')), headers.get('x-frame-options')];
    };
    for (const path of ['console/', 'console']) {
      expect(await framing([], path)).toEqual(["frame-ancestors 'none'", 'DENY']);
      const parents = ['https://a.example.com', 'https://b.example.com:8443'];
      expect(await framing(parents, path)).toEqual([`frame-ancestors ${parents.join(' ')}`, null]);
    }
  });

  test('tell the page its name and colour, and nobody its parents', async () => {
    const brand = { name: 'Acme', accent: { light: '#0b6e4f', dark: '#3f9c80' } };
    await using served = await serve({ view: 'client', ...brand }, { parents: ['https://a.example.com'] });
    expect(await (await served.ask('console/settings.json')).json()).toEqual({ view: 'client', ...brand });
  });

  test('say what to do where the page is not built', async () => {
    await using served = await serve({ view: 'client' }, { files: join(folder, 'nowhere') });
    const answer = await served.ask('console/');
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('./waybell up') });
  });

  test('hand out nothing from beside their folder', async () => {
    await using served = await serve({ view: 'client' });
    for (const path of ['console/../package.json', 'console/%2e%2e/package.json', 'console/..%2fpackage.json']) {
      expect((await served.ask(path)).status).toBeGreaterThanOrEqual(400);
    }
  });
});

async function serve(settings: ConsoleSettings, { files = folder, parents = [] as string[] } = {}) {
  const app = express();
  app.use((_request, response, next) => {
    response.set('x-frame-options', 'DENY');
    next();
  });
  app.use(consoleRoutes({ settings, parents }, files));
  app.use((_request, response) => void response.status(404).end());
  app.use(answerProblems(silentLog));
  const server = await httpServer(app);
  return { ...server, ask: (path: string) => fetch(`${server.url}/${path}`, { redirect: 'manual' }) };
}
