import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from '@waybell/contracts/write-json';
import { goneSettings } from '@waybell/runtime/gone-settings';
import { AMQP, DATABASE } from '@waybell/stack/address-of';
import { repository } from '@waybell/stack/stack-folder';
import { READERS, type Setting } from '../../settings.ts';
import {
  anObject,
  aNumber,
  aText,
  enabled,
  list,
  map,
  named,
  only,
  orNull,
  references,
  textList,
  texts,
  ingress,
  peers,
  settingSchema,
  type Properties,
  type SettingSchema,
} from './value-types.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const chart = 'deploy/helm/waybell';

/**
 * The files of the Helm chart that repeat the code, or copies of files elsewhere: a chart holds nothing from outside its folder.
 */
export function chartFiles(): Record<string, () => string> {
  return {
    [`${chart}/Chart.yaml`]: () => atVersion(read(`${chart}/Chart.yaml`), JSON.parse(read('package.json')).version),
    [`${chart}/values.schema.json`]: () => writeJson(valuesSchema()),
    [`${chart}/files/settings.json`]: () => writeJson(settingsByProcess()),
    [`${chart}/files/waybell-alerts.yml`]: () => read('deploy/prometheus/waybell-alerts.yml'),
    [`${chart}/files/dashboard.json`]: () => read('deploy/grafana/waybell.json'),
  };
}

function atVersion(text: string, version: string): string {
  return text.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
}

function settingsByProcess(): Record<string, string[]> {
  const entries = Object.entries(PROCESSES);
  return Object.fromEntries(entries.map(([process, settings]) => [process, Object.keys(settings).toSorted()]));
}

const { '`waybell declare`': declare, ...services } = READERS;

/** The settings that each process of the chart reads: the services, and the jobs before them. */
export const PROCESSES: Record<string, Record<string, Setting>> = {
  ...services,
  migrate: DATABASE,
  declare: { ...AMQP, ...declare },
};

/** values.schema.json of the chart: `helm` checks values against it before it contacts the cluster. */
function valuesSchema(): SettingSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart waybell. Made from the code: ./waybell docs writes it.',
    ...anObject({
      // Helm gives it to every chart of an umbrella.
      global: map,
      image: anObject(image, ['repository']),
      imagePullSecrets: list,
      nameOverride: aText(),
      fullnameOverride: aText(),
      settings: named('settings'),
      settingsFrom: references('keys'),
      operators: anObject({ enabled, ingress }),
      ingress,
      httpRoute: anObject({ enabled, annotations: texts, parentRefs: list, hostnames: textList }),
      defaults: withDeployment({
        settings: named('settings'),
        settingsFrom: references('keys'),
        secret: anObject({ name: aText(), keys: named('keys') }),
        ...account,
        egress: list,
      }),
      services: anObject(Object.fromEntries(servicesOfChart), serviceNames),
      deliverers: {
        type: 'object',
        propertyNames: { pattern: '^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$' },
        additionalProperties: { ...withDeployment(group), required: ['actions'] },
      },
      jobs: anObject(Object.fromEntries(jobs)),
      ...addOns,
      dnsConfig: map,
      podSecurityContext: map,
      securityContext: map,
    }),
    $defs: definitions(),
  };
}

/** Decided by the chart: its probes, Services and autoscaling depend on them. */
const FIXED = ['PORT', 'HEALTH_PORT', 'ADMIN_PORT', 'DELIVER_ACTIONS'];
/** With passwords and keys in them: in a Secret, and nowhere else. */
const SECRET = [
  'SECRET_KEYS',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'ADMIN_AMQP_URL',
  'TLS_KEY',
  ...['AMQP', 'DATABASE', 'REDIS'].map((of) => `${of}_URL`),
];

const isPlain = (name: string) => !FIXED.includes(name) && !SECRET.includes(name);

const pod = {
  extraEnv: list,
  extraVolumes: list,
  extraVolumeMounts: list,
  resources: map,
  nodeSelector: texts,
  affinity: map,
  tolerations: list,
  priorityClassName: aText(),
  podAnnotations: texts,
  podLabels: texts,
};
const image = {
  repository: aText('where the image lies', 1),
  tag: aText(),
  digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
};
const budget = { type: ['integer', 'string'] };
const deployment = {
  ...pod,
  replicas: aNumber(0),
  terminationGracePeriodSeconds: aNumber(
    1,
    'SHUTDOWN_GRACE and 5 s, unless it is more; preStopSeconds are added to it',
  ),
  preStopSeconds: aNumber(0, 'how long a Pod goes on working before it is told to stop'),
  strategy: map,
  disruptionBudget: orNull({ ...anObject({ minAvailable: budget, maxUnavailable: budget }), maxProperties: 1 }),
  topologySpreadConstraints: list,
};
/** All Pods of a process have one account: a group of deliverers has that of the service. */
const account = { serviceAccountAnnotations: texts };

/** A schema with all members of a definition and these. */
const withDeployment = (own: Properties) => extended('deployment', deployment, own);
const withPod = (own: Properties) => extended('pod', pod, own);
function extended(definition: string, properties: object, own: Properties): SettingSchema {
  const inherited = only(Object.keys(properties), definition);
  return { ...inherited, properties: { ...own, ...Object(inherited['properties']) } };
}

const scaling = {
  minReplicas: aNumber(1, 'never 0: then nobody takes'),
  maxReplicas: aNumber(1),
  waiting: aNumber(1, 'messages, or deliveries, that are as many as one Pod is for'),
};
const byQueues = {
  ...scaling,
  queues: aText('those whose messages count: a regular expression of Prometheus', 1),
};
/** A group without these takes them from services.deliverer. */
const byAge = {
  ...scaling,
  oldestSeconds: aNumber(1, 'age of the oldest delivery in hand that adds Pods, while enough wait'),
};

/** How a process gets its settings. */
const settingsOf = (process: string) => ({
  settings: named(`settings of ${process}`),
  settingsFrom: references(`keys of ${process}`),
  secret: anObject({ name: aText(), keys: named(`keys of ${process}`) }),
});

const actions = {
  description: '*, shipper.*, carrier.order.created',
  type: 'array',
  minItems: 1,
  items: { type: 'string', pattern: String.raw`^(\*|(shipper|carrier)\.(\*|\w+\.\w+))$` },
};
const group = { actions, autoscaling: orNull(anObject(byAge)), ...settingsOf('deliverer') };
const serviceNames = Object.keys(PROCESSES).filter((name) => name !== 'migrate' && name !== 'declare');
const servicesOfChart = serviceNames.map((name) => {
  const own =
    name === 'deliverer'
      ? group
      : { autoscaling: orNull(anObject(byQueues, Object.keys(byQueues))), ...settingsOf(name) };
  return [name, withDeployment({ ...own, ...account, egress: list })];
});
const jobs = ['migrate', 'declare'].map((name) => [name, withPod({ enabled, ...account, ...settingsOf(name) })]);

const block = orNull(anObject({ cidr: aText(), except: textList }));
const labelled = (more: Properties) => anObject({ enabled, labels: texts, ...more });
const selectors = { rabbitmqSelector: aText(), waybellSelector: aText() };
const addOns = {
  autoscaling: anObject({
    enabled,
    pollingInterval: aNumber(1),
    scaleDownAfterSeconds: { ...aNumber(0), maximum: 3_600 },
    prometheus: anObject({ serverAddress: aText(), ...selectors, authenticationRef: map, metadata: texts }),
  }),
  monitoring: anObject({
    serviceMonitor: labelled({ interval: aText() }),
    prometheusRule: labelled({ runbooks: aText() }),
    dashboard: labelled({ annotations: texts }),
  }),
  networkPolicy: anObject({
    enabled,
    servers: anObject({ amqp: peers, database: peers, redis: peers }),
    dns: peers,
    internet: anObject({ ipv4: block, ipv6: block, nat64: block }),
    from: anObject({ api: list, operators: list, metrics: list }),
    egress: list,
  }),
};

/** A setting that is gone is refused with what holds in its place: Helm's error names the value that would be taken. */
const gone = Object.fromEntries(
  Object.entries(goneSettings).map(([name, instead]) => [name, { const: `gone: ${instead}` }]),
);
const orGone = (schema: SettingSchema): SettingSchema => ({
  ...schema,
  patternProperties: { [`^(${Object.keys(gone).toSorted().join('|')})$`]: true },
});

/** The settings: of all processes, and which of them each reads. */
function definitions(): Record<string, SettingSchema> {
  const all: Record<string, Setting> = Object.assign({}, ...Object.values(PROCESSES));
  const names = Object.keys(all).toSorted();
  const schemas = names.filter(isPlain).map((name) => [name, settingSchema(all[name] ?? {})]);
  const ofEach = Object.entries(PROCESSES).flatMap(([process, settings]) => {
    const own = Object.keys(settings).toSorted();
    return [
      [`settings of ${process}`, orGone(only(own.filter(isPlain), 'settings'))],
      [`keys of ${process}`, orGone(only(own, 'key'))],
    ] as const;
  });
  return {
    pod: { properties: pod },
    deployment: { properties: deployment },
    settings: anObject({ ...Object.fromEntries(schemas), ...gone }),
    key: { properties: gone, additionalProperties: aText('the key in the Secret or ConfigMap', 1) },
    keys: orGone(only(names, 'key')),
    ...Object.fromEntries(ofEach),
  };
}
