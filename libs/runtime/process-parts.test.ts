import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import { nodeTrouble, HEAP_GROWTH } from './process-parts.ts';
import { until } from './testing/until.ts';

const PARTS = new URL('process-parts.ts', import.meta.url).href;

/** Ends when its input does, once it was told to stop. */
const CODE = `import { startProcess } from '${PARTS}';
  const settings = { LOG_LEVEL: 'info', HOST: '127.0.0.1', HEALTH_PORT: 0, SHUTDOWN_GRACE: 600_000, OTEL_EXPORTER_OTLP_ENDPOINT: '' };
  await using parts = await startProcess('test', settings);
  const told = parts.shutdown.untilBegun();
  parts.log.info('working');
  await told;
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());`;

describe('a process that is told to stop', () => {
  test('is not ready from then on, lives and says so until all else is closed, and ends well', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const said: { msg: string; healthPort?: number }[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
    await until('it works', () => said.some(({ msg }) => msg === 'working'));
    const port = said.find(({ msg }) => msg === 'process.started')?.healthPort;
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await get('/readyz')).status).toBe(200);
    child.kill('SIGTERM');
    const notReady = await until('it is not ready', async () => {
      const answer = await get('/readyz');
      return answer.status === 503 && answer;
    });
    expect(await notReady.json()).toEqual({ ready: false, waitingFor: ['shutdown'] });
    expect((await get('/livez')).status).toBe(200);
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(said.map(({ msg }) => msg)).toEqual(['process.started', 'working', 'shutdown.begun', 'process.stopped']);
  });
});

describe('a process that finds a mistyped setting in its environment', () => {
  test('warns of it with the nearest name', async () => {
    const env = { ...process.env, HEALTH_PROT: '1' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ msg: 'setting.unknown', name: 'HEALTH_PROT', nearest: 'HEALTH_PORT' });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

describe('a process whose constants are changed, as tests do,', () => {
  test('says so', async () => {
    const env = { ...process.env, WAYBELL_TEST_LISTENER_LIFE: '1s' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ msg: 'constants.changed', changed: { LISTENER_LIFE: '1s' } });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

describe('nodeTrouble', () => {
  test.each(['22.23.5', '24.22.0', '25.9.0', '26.10.0', '26.12.0'])('names Node %s', (version) => {
    expect(nodeTrouble(version)).toMatch(`node: ${version} `);
  });

  test.each(['24.22.1', '24.23.0', '26.12.1', '26.13.0', '27.0.0', '27.0.0-nightly'])('trusts Node %s', (version) => {
    expect(nodeTrouble(version)).toBeNull();
  });

  test('finds nothing wrong with the Node that runs this', () => {
    expect(nodeTrouble()).toBeNull();
  });
});

const WITH_TRUST = `const { getCACertificates } = await import('node:tls');
  const count = () => getCACertificates('default').length;
  const before = count();
  ${CODE.replace("parts.log.info('working');", "parts.log.info({ before, after: count() }, 'working');")}`;

describe('a process that is given a root whose key is public', () => {
  test('does not trust it, and says so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'roots-'));
    const path = join(folder, 'ca.pem');
    writeFileSync(path, `# a bundle of a machine\r\n${PUBLIC_ROOT.replaceAll('\n', '\r\n')}`);
    const child = spawn(process.execPath, ['--input-type=module', '-e', WITH_TRUST], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said: { msg: string; before?: number; after?: number; rootsRemoved?: string[] }[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
    await until('it works', () => said.some(({ msg }) => msg === 'working'));
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
    const [started, { before = 0, after = 0 } = {}] = said;
    expect(started).toMatchObject({ msg: 'process.started', rootsRemoved: ['emSign ECC Root CA - C3'] });
    expect(before - after).toBe(1);
  });
});

const PUBLIC_ROOT = [
  '-----BEGIN CERTIFICATE-----',
  'MIICKzCCAbGgAwIBAgIKe3G2gla4EnycqDAKBggqhkjOPQQDAzBaMQswCQYDVQQGEwJVUzETMBEGA1UECxMKZW1TaWduIFBLSTEUMBIGA1UEChMLZU11ZGhy',
  'YSBJbmMxIDAeBgNVBAMTF2VtU2lnbiBFQ0MgUm9vdCBDQSAtIEMzMB4XDTE4MDIxODE4MzAwMFoXDTQzMDIxODE4MzAwMFowWjELMAkGA1UEBhMCVVMxEzAR',
  'BgNVBAsTCmVtU2lnbiBQS0kxFDASBgNVBAoTC2VNdWRocmEgSW5jMSAwHgYDVQQDExdlbVNpZ24gRUNDIFJvb3QgQ0EgLSBDMzB2MBAGByqGSM49AgEGBSuB',
  'BAAiA2IABP2lYa57JhAd6bciMK4G9IGzsUJxlTm801Ljr6/58pc1kjZGDoeVjbk5Wum739D+yAdBPLtVb4OjavtisIGJAnB9SMVK4+kiVCJNk7tCDK93nCOm',
  'fddhEc5lx/h//vXyqaNCMEAwHQYDVR0OBBYEFPtaSNCAIEDyqOkAB2kZd6fmw/TPMA4GA1UdDwEB/wQEAwIBBjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49',
  'BAMDA2gAMGUCMQC02C8Cif22TGK6Q04ThHK1rt0c3ta13FaPWEBaLd4gTCKDypOofu4SQMfWh0/434UCMBwUZOR8loMRnLDRWmFLpg9J0wD8ofzkpf9/rdcw',
  '0Md3f76BB1UwUCAU9Vc4CqgxUQ==',
  '-----END CERTIFICATE-----',
].join('\n');

test('this Node knows the flag for the growth of the heap', () => {
  expect(execFileSync(process.execPath, ['--v8-options']).toString()).toContain(HEAP_GROWTH.split('=')[0]);
});
