import compression from 'compression';
import express, { Router, type RequestHandler, type Response } from 'express';
import { builtFiles } from '@waybell/console/built-files';
import { pagePolicy } from '../documents/page-policy.ts';
import { Problem } from '../http/problem.ts';
import { addPath } from '../../operations/serve-operations.ts';

/** Settings that the page needs before anybody has signed in. */
export type ConsoleSettings = {
  /** The audience of the page, which asks only the listener that serves it. */
  view: 'client' | 'operator';
  /** The OpenID issuer, if people sign in with more than an access token. `origins`: the issuer's further origins. */
  signIn?: { issuer: string; clientId: string; scope: string; audience: string; origins: string[] } | undefined;
  /** Name shown by the page; defaults to Waybell. */
  name?: string | undefined;
  /** Its colour in CSS, such that it can be read on the page's light and dark grounds. */
  accent?: { light: string; dark: string } | undefined;
  /** Grafana's, for a link. */
  dashboardUrl?: string | undefined;
};

/** `parents`: origins whose pages may frame the page. */
export type ServedConsole = { settings: ConsoleSettings; parents: readonly string[] };

/** Files with a hash in their name never change; the page, which names them, must be requested again. */
const HASHED = /[\\/]assets[\\/]/;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** The console at /console/: static files, and the settings that it reads first. Nothing in it needs a token. */
export function consoleRoutes({ settings, parents }: ServedConsole, files = builtFiles): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { signIn } = settings;
  const others = signIn === undefined ? [] : [...new Set([new URL(signIn.issuer).origin, ...signIn.origins])];
  const protect: RequestHandler = (_request, response, next) => {
    response.set({
      'content-security-policy': `${pagePolicy({ others, parents })}; require-trusted-types-for 'script'`,
      'cross-origin-opener-policy': 'same-origin',
    });
    // It can name no parent.
    if (parents.length > 0) response.removeHeader('x-frame-options');
    next();
  };
  router.use('/console', protect);

  addPath(router, '/console', {
    // Relative, as a proxy may show the API under a path of its own.
    get: (_request, response) => void response.status(308).set('location', 'console/').end(),
  });
  addPath(router, '/console/settings.json', {
    get: (_request, response) => void response.set('cache-control', 'no-store').json(settings),
  });
  router.use('/console', compression(), express.static(files, { setHeaders: cached, redirect: false }));
  addPath(router, '/console/', { get: notBuilt });
  return router;
}

function cached(response: Response, path: string): void {
  response.set('cache-control', HASHED.test(path) ? FOR_EVER : 'no-cache');
}

function notBuilt(): void {
  throw new Problem('unknown-path', 'The console is not built here: `./waybell up` builds it, and so does the image.');
}
