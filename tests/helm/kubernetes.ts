import { execFileSync, execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '@waybell/stack/ports';
import { STARTING_LIMIT_MS, SupervisedProcess } from '@waybell/stack/supervised-process';
import { promisify } from 'node:util';
import { cacheFolder } from '@waybell/stack/stack-folder';
import { moduleSource } from '../testing/module-source.ts';

const TOKEN = 'of-a-test';

type Answer = { status: number; body: string };
type Asking = { method?: string; type?: string; body?: string };

/** An API server with its etcd, on this machine: it keeps and checks objects. Nothing runs them. */
export class Kubernetes implements AsyncDisposable {
  readonly kubeconfig: string;
  readonly #home: string;
  readonly #port: number;
  readonly #processes: SupervisedProcess[] = [];

  private constructor({ home, port }: { home: string; port: number }) {
    this.#home = home;
    this.#port = port;
    this.kubeconfig = join(home, 'kubeconfig');
  }

  /** The first time builds both, which takes minutes. */
  static async start(): Promise<Kubernetes> {
    const programs = await kubernetesPrograms();
    const taken = new Set<number>();
    const [port, etcd, peers] = [await freePort({ taken }), await freePort({ taken }), await freePort({ taken })];
    const cluster = new Kubernetes({ home: mkdtempSync(join(tmpdir(), 'waybell-kubernetes-')), port });
    try {
      await cluster.#startEtcd({ command: join(programs, 'server'), url: local(etcd), peers: local(peers) });
      await cluster.#startApi({ command: join(programs, 'kube-apiserver'), etcd: local(etcd) });
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  async ask(path: string, { method = 'GET', type = 'application/json', body = '' }: Asking = {}): Promise<Answer> {
    const options = {
      method,
      ca: readFileSync(this.#authority),
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': type },
      agent: false,
    };
    return new Promise((resolve, reject) => {
      const asked = request(`${this.#url}${path}`, options, (response) => {
        text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
      });
      asked.once('error', reject).end(body);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nothing of them is to be kept, and an API server without its etcd takes minutes to end.
    for (const process of this.#processes.toReversed()) await process.stop('SIGKILL');
    rmSync(this.#home, { recursive: true });
  }

  get #url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** Its certificate vouches for itself; it makes one when it starts. */
  get #authority(): string {
    return join(this.#home, 'certificates/apiserver.crt');
  }

  async #startEtcd({ command, url, peers }: { command: string; url: string; peers: string }): Promise<void> {
    const args = {
      'data-dir': join(this.#home, 'etcd'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peers,
      'initial-advertise-peer-urls': peers,
      'initial-cluster': `default=${peers}`,
      'unsafe-no-fsync': 'true',
    };
    await this.#start({ name: 'etcd', command, args, isReady: async () => (await fetch(`${url}/readyz`)).ok });
  }

  async #startApi({ command, etcd }: { command: string; etcd: string }): Promise<void> {
    const accounts = join(this.#home, 'accounts.key');
    execFileSync('openssl', ['genrsa', '-out', accounts, '2048'], { stdio: 'ignore' });
    const tokens = join(this.#home, 'tokens.csv');
    writeFileSync(tokens, `${TOKEN},test,test,system:masters\n`);
    const args = {
      'etcd-servers': etcd,
      'bind-address': '127.0.0.1',
      'secure-port': String(this.#port),
      'cert-dir': join(this.#home, 'certificates'),
      'token-auth-file': tokens,
      'service-account-issuer': 'https://kubernetes.test',
      'service-account-key-file': accounts,
      'service-account-signing-key-file': accounts,
      'service-cluster-ip-range': '10.96.0.0/16',
    };
    const isReady = async () => existsSync(this.#authority) && (await this.ask('/readyz')).status === 200;
    await this.#start({ name: 'kube-apiserver', command, args, isReady });
    writeFileSync(this.kubeconfig, kubeconfigOf({ server: this.#url, authority: this.#authority }));
  }

  async #start(what: {
    name: string;
    command: string;
    args: Record<string, string>;
    isReady: () => Promise<boolean>;
  }): Promise<void> {
    const { name, command } = what;
    const spec = {
      name,
      role: 'server' as const,
      command,
      args: Object.entries(what.args).map(([option, value]) => `--${option}=${value}`),
      env: process.env,
      cwd: this.#home,
      logFile: join(this.#home, `${name}.log`),
      address: name,
      waitsFor: async () => ((await what.isReady().catch(() => false)) ? undefined : name),
      readyMs: STARTING_LIMIT_MS,
      graceMs: 10_000,
    };
    const started = new SupervisedProcess(spec, { restart: 'never', onEvent: () => undefined });
    this.#processes.push(started);
    await started.start();
  }
}

const local = (port: number) => `http://127.0.0.1:${port}`;

/** JSON is YAML. */
function kubeconfigOf({ server, authority }: { server: string; authority: string }): string {
  const name = 'test';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority': authority } }],
    users: [{ name, user: { token: TOKEN } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'shop' } }],
    'current-context': name,
  });
}

const MODULE = 'k8s.io/kubernetes';
const VERSION = 'v1.37.2';
const PACKAGES = ['k8s.io/kubernetes/cmd/kube-apiserver', 'go.etcd.io/etcd/server/v3'];

/** Arguments: folder, go.mod, flags of the linker, packages. One at a time, and the folder appears only when all is in it. */
const BUILD = `
set -e
folder=$1 module=$2 ldflags=$3
shift 3
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
[ ! -e "$folder" ] || exit 0
rm -rf "$folder.draft"
mkdir -p "$folder.draft/source"
cd "$folder.draft/source"
printf '%s' "$module" >go.mod
go get "$@"
go build -ldflags "$ldflags" -o .. "$@"
mv "$folder.draft" "$folder"
`;

/** The folder with `kube-apiserver` and etcd's `server`. Needs Go, and the first time minutes. */
async function kubernetesPrograms(): Promise<string> {
  const folder = join(cacheFolder(), `go-kubernetes-${VERSION}`);
  if (existsSync(folder)) return folder;
  const source = await moduleSource(MODULE, VERSION);
  const goMod = `module waybell.example/kubernetes\ngo 1.26.0\nrequire ${MODULE} ${VERSION}\n${replacements(source)}`;
  await promisify(execFile)('sh', ['-c', BUILD, 'sh', folder, goMod, `-s -w ${stamp()}`, ...PACKAGES], {
    maxBuffer: 2 ** 26,
  });
  return folder;
}

/** It says which version it is only where the linker tells it. */
function stamp(): string {
  const [, minor] = VERSION.split('.');
  const told = Object.entries({ gitVersion: VERSION, gitMajor: '1', gitMinor: minor });
  return told.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`).join(' ');
}

/** Kubernetes has parts of itself in a folder that its module leaves out: they are modules too, of the same minor version. */
function replacements(source: string): string {
  const parts = readFileSync(join(source, 'go.mod'), 'utf8').matchAll(/(k8s\.io\/[\w-]+) => \.\/staging\//g);
  return [...parts].map(([, part]) => `replace ${part} => ${part} ${VERSION.replace(/^v1/, 'v0')}\n`).join('');
}
