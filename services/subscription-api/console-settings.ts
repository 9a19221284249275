import { InvalidEnvironment, str, words } from '@waybell/runtime/environment';
import type { JwtRules } from './rest/authentication/by-jwt.ts';
import type { ConsoleSettings, ServedConsole } from './rest/console/console.ts';
import { readableAccent } from './rest/console/readable-accent.ts';

/** Settings of the console, the page in the browser. */
export const consoleSettings = {
  CONSOLE_CLIENT_ID: str({
    default: '',
    desc: 'the console as a public client of JWT_ISSUER; empty: people sign in with an access token',
    example: 'waybell-console',
  }),
  CONSOLE_SCOPE: str({
    default: 'webhooks:read webhooks:write',
    desc: 'what the console asks JWT_ISSUER for, with spaces; offline_access renews tokens',
  }),
  CONSOLE_ISSUER_ORIGINS: words({
    default: [],
    desc: 'origins that the console may ask beside that of JWT_ISSUER: of its token endpoint',
    example: 'https://token.example.com',
  }),
  CONSOLE_PARENTS: words({
    default: [],
    desc: 'origins whose pages may show the console of clients in a frame',
    example: 'https://platform.example.com',
  }),
  CONSOLE_NAME: str({
    default: '',
    desc: 'name that the console goes by, of at most 40 characters; empty: Waybell',
    example: 'Acme notifications',
  }),
  CONSOLE_ACCENT: str({
    default: '',
    desc: "colour of the console's links and buttons, such as #0b6e4f; it is made darker or lighter where it could not be read",
    example: '#0b6e4f',
  }),
  CONSOLE_DASHBOARD_URL: str({
    default: '',
    desc: 'address of the dashboard in Grafana, to which operators get a link',
  }),
};

type ConsoleEnvironment = {
  [Name in keyof typeof consoleSettings]: ReturnType<(typeof consoleSettings)[Name]['_parse']>;
};

/** Returns the settings of either listener's console. Throws InvalidEnvironment if nobody could sign in with them. */
export function readConsole(
  settings: ConsoleEnvironment,
  jwt: Pick<JwtRules, 'issuer' | 'audience'> | undefined,
): Record<ConsoleSettings['view'], ServedConsole> {
  const { CONSOLE_CLIENT_ID: clientId, CONSOLE_SCOPE: scope, CONSOLE_DASHBOARD_URL: dashboardUrl } = settings;
  const { CONSOLE_ISSUER_ORIGINS: origins, CONSOLE_PARENTS: parents } = settings;
  const isDashboard = dashboardUrl === '' || ['http:', 'https:'].includes(URL.parse(dashboardUrl)?.protocol ?? '');
  const problems = [
    ...(isDashboard ? [] : ['CONSOLE_DASHBOARD_URL: is not a http(s) URL']),
    ...(clientId === '' ? [] : signInProblems(scope, jwt)),
    ...originProblems('CONSOLE_ISSUER_ORIGINS', origins, 'https://token.example.com'),
    ...originProblems('CONSOLE_PARENTS', parents, 'https://platform.example.com'),
    ...brandProblems(settings),
  ];
  if (problems.length > 0) throw new InvalidEnvironment(problems);
  const signIn = jwt && clientId !== '' ? { issuer: jwt.issuer, clientId, scope, audience: jwt.audience } : undefined;
  const brand = {
    name: settings.CONSOLE_NAME || undefined,
    accent: settings.CONSOLE_ACCENT === '' ? undefined : readableAccent(settings.CONSOLE_ACCENT),
  };
  return {
    client: { settings: { view: 'client', signIn: signIn && { ...signIn, origins }, ...brand }, parents },
    operator: { settings: { view: 'operator', dashboardUrl: dashboardUrl || undefined, ...brand }, parents: [] },
  };
}

function brandProblems({ CONSOLE_NAME: name, CONSOLE_ACCENT: accent }: ConsoleEnvironment): string[] {
  return [
    ...(/^\P{C}{0,40}$/u.test(name) ? [] : ['CONSOLE_NAME: is not a name of at most 40 printable characters']),
    ...(/^(#[\da-f]{6})?$/i.test(accent) ? [] : [`CONSOLE_ACCENT: "${accent}" is not a colour such as #0b6e4f`]),
  ];
}

const originProblems = (setting: string, origins: readonly string[], example: string): string[] =>
  origins.filter((text) => !isOrigin(text)).map((text) => `${setting}: "${text}" is not an origin such as ${example}`);

/** RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

function signInProblems(scope: string, jwt: { issuer: string } | undefined): string[] {
  const unscoped = SCOPE.test(scope) ? [] : ['CONSOLE_SCOPE: is not scopes with one space between them'];
  if (jwt === undefined) return [...unscoped, 'CONSOLE_CLIENT_ID: needs JWT_ISSUER, where it is known'];
  return isSafe(jwt.issuer)
    ? unscoped
    : [...unscoped, 'JWT_ISSUER: is not an https URL, which CONSOLE_CLIENT_ID needs'];
}

// It goes into the page's policy, where a * in a host would stand for any, and a ; would begin another rule.
const isOrigin = (text: string): boolean =>
  isSafe(text) && URL.parse(text)?.origin === text && /^\w+:\/\/[\w.:[\]-]+$/.test(text);

/** Over http only on one's own machine, as the page has it. */
function isSafe(text: string): boolean {
  const url = URL.parse(text);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere);
}
