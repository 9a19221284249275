/** The part of the caller's environment that a private server gets: nothing that could reconfigure it (PGDATA, RABBITMQ_…). */
export function serverEnvironment(own: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH = '/usr/sbin:/usr/bin:/sbin:/bin', TZ } = process.env;
  return { PATH, LANG: 'C.UTF-8', ...(TZ === undefined ? {} : { TZ }), ...own };
}
