import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { repository } from '@waybell/stack/stack-folder';
import { goProgram } from '../testing/go-program.ts';

/** Limit for building on a slow machine: ends only a build that hangs. */
export const BUILDING_LIMIT_MS = 3_600_000;
export const HELM = 'helm.sh/helm/v4/cmd/helm@v4.3.1';
export const CHART = join(repository, 'deploy/helm/waybell');

type Start = { kubeconfig?: string; input?: string };

/** Runs `helm` and resolves with what it prints. Throws with what it says is wrong. */
export async function helm(args: string[], { kubeconfig = '/dev/null', input }: Start = {}): Promise<string> {
  const program = await goProgram(HELM);
  const env = { ...process.env, KUBECONFIG: kubeconfig, HELM_PLUGINS: '/dev/null' };
  const running = promisify(execFile)(program, args, { env, maxBuffer: 2 ** 26 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** The chart's objects for these values (YAML), as text. */
export async function render(values: string, options: string[] = []): Promise<string> {
  return helm(['template', 'waybell', CHART, '--namespace', 'shop', '--values', '-', ...options], { input: values });
}

// Kubernetes' own, of which a test looks at some members.
// oxlint-disable-next-line typescript/no-explicit-any
export type KubernetesObject = { apiVersion: string; kind: string; metadata: { name: string }; [member: string]: any };

export function readObjects(text: string): KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJSON())
    .filter((object) => object !== null);
}
