const minimal = `
image: { repository: example.com/waybell }
`;

const everything = `
image: { repository: example.com/waybell, tag: 1.2.3, digest: 'sha256:${'0123456789abcdef'.repeat(4)}' }
imagePullSecrets: [{ name: pull }]
settings:
  LOG_LEVEL: debug
  CALLBACK_DENY_NETWORKS: [198.18.0.0/15, '2001:db8:64::/96']
  CARRIER_RETRY_DELAYS: 1s,2s
  TRUSTED_PROXIES: 10.0.0.0/8
  WAITING_ALL_MAX_BYTES: 21474836480
settingsFrom:
  - { configMap: servers-ca, keys: { TLS_CA: ca.crt } }
operators:
  enabled: true
  ingress: { enabled: true, className: inside, host: operators.example.com, tlsSecret: operators-tls }
ingress: { enabled: true, host: api.example.com, annotations: { example.com/buffering: 'off' } }
httpRoute: { enabled: true, parentRefs: [{ name: gateway, namespace: gateways }], hostnames: [api.example.com] }
defaults: { egress: [{ ports: [{ protocol: TCP, port: 8443 }] }] }
services:
  subscription-api:
    secret: { keys: { ADMIN_AMQP_URL: ADMIN_AMQP_URL } }
    settings: { REQUESTS_PER_MINUTE: 1200 }
  event-router:
    priorityClassName: system-cluster-critical
    settingsFrom: [{ secret: event-router-tls, keys: { TLS_CERTIFICATE: tls.crt, TLS_KEY: tls.key } }]
  deliverer:
    settings: { SHUTDOWN_GRACE: 1.51m }
    secret: { name: vault-deliverer, keys: { AMQP_URL: amqp } }
    extraEnv: [{ name: NODE_EXTRA_CA_CERTS, value: /etc/receivers/ca.crt }]
    extraVolumes: [{ name: receivers, configMap: { name: receivers-ca } }]
    extraVolumeMounts: [{ name: receivers, mountPath: /etc/receivers, readOnly: true }]
    podAnnotations: { example.com/team: freight }
  delivery-log: { replicas: 0, terminationGracePeriodSeconds: 120, disruptionBudget: { minAvailable: 1 } }
  location-tracker:
    settings: { GEOCODER_URL: 'https://geocoder.example.com', GEOCODER_RATE: 5 }
    egress: [{ ports: [{ protocol: TCP, port: 443 }] }]
    tolerations: [{ key: spot, operator: Exists }]
    nodeSelector: { kubernetes.io/arch: amd64 }
deliverers:
  hot:
    actions: [shipper.order.created, carrier.*]
    settings: { DELIVER_SLOTS: 4096 }
    resources: { requests: { cpu: '1' } }
    autoscaling: { minReplicas: 4 }
jobs:
  migrate: { serviceAccountAnnotations: { example.com/role: owner } }
  declare: { settings: { EVENTS_QUEUE_LIMIT: 2GiB } }
autoscaling:
  enabled: true
  prometheus:
    serverAddress: https://prometheus.example.com
    rabbitmqSelector: namespace="rabbitmq"
    waybellSelector: namespace="shop"
    authenticationRef: { name: prometheus }
    metadata: { authModes: bearer }
monitoring:
  serviceMonitor: { enabled: true, labels: { release: prometheus } }
  prometheusRule: { enabled: true, labels: { release: prometheus }, runbooks: 'https://code.example/waybell/' }
  dashboard: { enabled: true, annotations: { grafana_folder: Waybell } }
networkPolicy:
  servers:
    amqp: { to: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: rabbitmq } } }] }
    database: { to: [{ ipBlock: { cidr: 10.9.0.0/24 } }] }
  from:
    api: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: ingress } } }]
    operators: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: ingress } } }]
    metrics: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: monitoring } } }]
  egress: [{ to: [{ podSelector: { matchLabels: { app: collector } } }], ports: [{ protocol: TCP, port: 4318 }] }]
`;

/** Values of the chart, as a person would write them: nothing but what has to be, and all that there is. */
export const VALUES = { minimal, everything };

/** Values that the chart refuses, and the error of each. */
export const REFUSED: [values: string, said: string][] = [
  ['replicas: 3', `at '': additional properties 'replicas' not allowed`],
  ['settings: { LOG_LEVL: debug }', `at '/settings': additional properties 'LOG_LEVL' not allowed`],
  ['settings: { LOG_LEVEL: verbose }', `at '/settings/LOG_LEVEL': value must be one of 'debug', 'info'`],
  ['settings: { DELIVERY_MAX_AGE: 30 }', `at '/settings/DELIVERY_MAX_AGE': got number, want string`],
  ['settings: { DELIVERY_MAX_AGE: 30 s }', `at '/settings/DELIVERY_MAX_AGE': '30 s' does not match pattern`],
  ['settings: { SECRET_KEYS: "a:b" }', `at '/settings': additional properties 'SECRET_KEYS' not allowed`],
  [
    'settings: { AMQP_CA: /ca.crt }',
    `at '/settings/AMQP_CA': value must be 'gone: set TLS_CA, which holds for RabbitMQ`,
  ],
  [
    'settingsFrom: [{ configMap: ca, keys: { REDIS_CA: ca.crt } }]',
    `at '/settingsFrom/0/keys/REDIS_CA': value must be 'gone: set TLS_CA, which holds for RabbitMQ`,
  ],
  [
    'services: { deactivator: { settings: { CLOCK_LIMIT: 5s } } }',
    `at '/services/deactivator/settings/CLOCK_LIMIT': value must be 'gone: it is 30s always'`,
  ],
  ['settings: { HEALTH_PORT: 80 }', `at '/settings': additional properties 'HEALTH_PORT' not allowed`],
  [
    'services: { event-router: { settings: { DELIVER_SLOTS: 3 } } }',
    `at '/services/event-router/settings': additional properties 'DELIVER_SLOTS' not allowed`,
  ],
  [
    'services: { deactivator: { secret: { keys: { SECRET_KEYS: keys } } } }',
    `at '/services/deactivator/secret/keys': additional properties 'SECRET_KEYS' not allowed`,
  ],
  ['services: { deliverer: { replica: 3 } }', `at '/services/deliverer': additional properties 'replica' not allowed`],
  ['deliverers: { hot: { replicas: 3 } }', `at '/deliverers/hot': missing property 'actions'`],
  [
    'deliverers: { hot: { actions: [order.created] } }',
    `at '/deliverers/hot/actions/0': 'order.created' does not match`,
  ],
  ['services: { deliverer: { actions: [shipper.*] } }', 'some actions would be delivered by nobody'],
  ['services: { deliverer: { autoscaling: { minReplicas: 0 } } }', 'minReplicas'],
  ['settingsFrom: [{ keys: { TLS_CA: ca.crt } }]', `at '/settingsFrom/0': missing property 'secret'`],
  [
    'settings: { CALLBACK_PROXY: "http://proxy" }\nservices: { deliverer: { secret: { keys: { CALLBACK_PROXY: proxy } } } }',
    'CALLBACK_PROXY of deliverer is among `settings`, and in a Secret or ConfigMap too',
  ],
  [
    'settings: { SHUTDOWN_GRACE: 90s }\nservices: { deactivator: { terminationGracePeriodSeconds: 94 } }',
    'terminationGracePeriodSeconds of deactivator: with SHUTDOWN_GRACE 90s, 95 at least, or none, which is that',
  ],
  [
    'settingsFrom: [{ configMap: times, keys: { SHUTDOWN_GRACE: grace } }]',
    'terminationGracePeriodSeconds of deactivator: say how many, as SHUTDOWN_GRACE lies in a Secret or ConfigMap',
  ],
  [
    'operators: { ingress: { enabled: true, host: a.example } }',
    'operators.ingress is enabled, and operators.enabled is not',
  ],
  [
    'deliverers: { hot: { actions: ["*"], serviceAccountAnnotations: { a: b } } }',
    `additional properties 'serviceAccountAnnotations'`,
  ],
  ['defaults: { secret: { nam: a } }', `at '/defaults/secret': additional properties 'nam' not allowed`],
  ['ingress: { enabled: true }', 'ingress.host: by which name is it reached?'],
  ['httpRoute: { enabled: true }', 'httpRoute.parentRefs: which Gateway leads here?'],
  ['autoscaling: { enabled: true }', 'autoscaling.prometheus.serverAddress: where is Prometheus?'],
];
