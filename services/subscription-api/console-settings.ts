import { InvalidEnvironment, str } from '@waybell/runtime/environment';
import type { JwtRules } from './rest/authentication/by-jwt.ts';
import type { ConsoleSettings } from './rest/console/console.ts';

/** Settings of the console, the page in the browser. */
export const consoleSettings = {
  CONSOLE_CLIENT_ID: str({
    default: '',
    desc: 'by which JWT_ISSUER knows the console, a public client whose redirect address is that of the page; empty: people sign in with an access token',
    example: 'waybell-console',
  }),
  CONSOLE_SCOPE: str({
    default: 'webhooks:read webhooks:write',
    desc: 'scopes that the console asks JWT_ISSUER for',
  }),
  CONSOLE_DASHBOARD_URL: str({
    default: '',
    desc: 'address of the dashboard in Grafana, to which operators get a link',
  }),
};

type Settings = { [Name in keyof typeof consoleSettings]: string };

/** What the console of either listener is told. Throws InvalidEnvironment where people could not sign in as it says. */
export function readConsole(
  settings: Settings,
  jwt: Pick<JwtRules, 'issuer' | 'audience'> | undefined,
): Record<ConsoleSettings['view'], ConsoleSettings> {
  const { CONSOLE_CLIENT_ID: clientId, CONSOLE_SCOPE: scope, CONSOLE_DASHBOARD_URL: dashboardUrl } = settings;
  const problems = [
    ...(clientId !== '' && jwt === undefined ? ['CONSOLE_CLIENT_ID: needs JWT_ISSUER, where it is known'] : []),
    ...(dashboardUrl === '' || isWeb(dashboardUrl) ? [] : ['CONSOLE_DASHBOARD_URL: is not a http(s) URL']),
    ...(clientId === '' || isWeb(jwt?.issuer ?? '') ? [] : ['JWT_ISSUER: is not a URL, which CONSOLE_CLIENT_ID needs']),
  ];
  if (problems.length > 0) throw new InvalidEnvironment(problems);
  const signIn = jwt === undefined || clientId === '' ? undefined : { ...jwt, clientId, scope };
  return {
    client: {
      view: 'client',
      signIn: signIn && { issuer: signIn.issuer, clientId, scope, audience: signIn.audience },
    },
    operator: { view: 'operator', dashboardUrl: dashboardUrl === '' ? undefined : dashboardUrl },
  };
}

const isWeb = (text: string): boolean => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
