// The laws of architecture: which code may know which. A name says what is true of every import.
import swcVisitor from '@swc/core/Visitor.js';

// SWC parses `await using` but its visitor, which dependency-cruiser walks with, does not know it yet.
const { Visitor } = swcVisitor;
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function visitKnownStatement(statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  return { ...statement, decls: this.visitVariableDeclarators(statement.decls) };
};

const DRIVERS = ['pg', 'ioredis'];
const driver = `node_modules/(${DRIVERS.join('|')})/`;

/** What makes connections, and nothing else does: one adapter per server, and who migrates. RabbitMQ's has a law of its own. */
const ADAPTERS = [
  '^libs/runtime/(postgres|redis|writable-host)\\.ts$',
  '^services/subscription-api/(database|migrate)\\.ts$',
];
const TEST = '\\.test\\.ts$|/testing/';
/** A process of the line is connected here, for five of the roots. */
const START_SERVICE = '^libs/line/service\\.ts$';
const MAIN = '^services/[^/]+/main\\.ts$';
/** Composition roots: who may connect, and hand what is connected to the rest. */
const ROOTS = [MAIN, START_SERVICE, '^libs/stack/', '^cli/', '^tests/', '^bench/'];

export default {
  forbidden: [
    {
      name: 'services-meet-only-on-the-wire',
      comment: 'A service talks to another through queues and tables. What both need lies in libs/.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'libs-never-know-services',
      comment: 'But the local stack, which runs them.',
      severity: 'error',
      from: { path: '^libs/', pathNot: [TEST, '^libs/stack/'] },
      to: { path: '^(services|cli|tests|bench)/' },
    },
    {
      name: 'pages-know-the-published-interfaces-alone',
      comment: 'What a page may ask is in the documents, and so are its types.',
      severity: 'error',
      from: { path: '^apps/[^/]+/src/' },
      to: { path: '^(services|libs|cli|tests|bench)/' },
    },
    {
      name: 'packages-know-libs-alone',
      comment: 'What they take from here goes into what is published.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/', pathNot: TEST },
      to: { path: '^(apps|services|cli|tests|bench|packages/(?!$1/))' },
    },
    {
      name: 'nothing-runs-on-packages',
      comment: 'They are for others; tests and benchmarks alone use them.',
      severity: 'error',
      from: { path: '^(apps|libs|services|cli)/', pathNot: TEST },
      to: { path: '^packages/' },
    },
    {
      name: 'services-never-know-the-command-line',
      severity: 'error',
      from: { path: '^services/', pathNot: TEST },
      to: { path: '^(cli|tests|bench)/' },
    },
    {
      name: 'the-catalog-knows-no-other-lib',
      comment: 'It is data; whatever describes an action can be read without knowing how it travels.',
      severity: 'error',
      from: { path: '^libs/catalog/' },
      to: { path: '^libs/', pathNot: '^libs/catalog/' },
    },
    {
      name: 'the-runtime-knows-no-other-lib',
      severity: 'error',
      from: { path: '^libs/runtime/' },
      to: { path: '^libs/', pathNot: '^libs/runtime/' },
    },
    {
      name: 'only-adapters-know-the-drivers',
      comment: 'Elsewhere a driver is a type, or comes ready-made as an argument.',
      severity: 'error',
      from: {
        path: '^(libs|services)/',
        pathNot: [...ADAPTERS, ...ROOTS, TEST, '^services/subscription-api/tokens\\.ts$'],
      },
      to: { path: driver, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-the-broker-folder-speaks-amqp',
      comment:
        "And what operators' commands do on connections of their own. Not even its types are known elsewhere. Tests and benchmarks are clients of their own.",
      severity: 'error',
      from: { path: '^(libs|services|cli)/', pathNot: ['^libs/line/(broker|operating)/', TEST] },
      to: { path: 'node_modules/amqplib/' },
    },
    {
      name: 'the-line-knows-its-broker-by-broker-ts-alone',
      comment: 'How RabbitMQ is spoken to is an adapter: the types of it lie above, and roots connect it.',
      severity: 'error',
      from: {
        path: '^(libs/line|services)/',
        pathNot: [
          '^libs/line/(broker|operating)/',
          '^services/subscription-api/operations/(line|overview)\\.ts$',
          ...ROOTS,
          TEST,
        ],
      },
      to: { path: '^libs/line/broker/' },
    },
    {
      name: 'a-delivery-never-meets-its-operators',
      comment: 'What operators do to the line lies beside the way that a delivery takes, for commands and the API.',
      severity: 'error',
      from: { path: '^(libs/line|services/(?!subscription-api))/', pathNot: ['^libs/line/operating/', TEST] },
      to: { path: '^libs/line/operating/' },
    },
    {
      name: 'egress-never-knows-requests',
      comment: 'It judges whose fault a failure is. Requests ask it, and connect for it where it is not sure.',
      severity: 'error',
      from: { path: '^services/deliverer/egress/', pathNot: TEST },
      to: { path: '^services/deliverer/request/' },
    },
    {
      name: 'only-roots-open-connections',
      comment: 'Functions get what they need as arguments.',
      severity: 'error',
      from: { path: '^(libs/line|services)/', pathNot: [...ROOTS, ...ADAPTERS, '^libs/line/operating/', TEST] },
      to: {
        path: '^libs/(runtime/(redis|process-parts)|line/(broker/connect-broker|operating/connect-once))\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-roots-handle-signals',
      severity: 'error',
      from: { path: '^services/', pathNot: [...ROOTS, TEST] },
      to: { path: '^libs/runtime/shutdown\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-main-starts-a-service',
      comment: 'What makes a step of its parts knows what a service has, and starts none.',
      severity: 'error',
      from: { pathNot: [MAIN] },
      to: { path: START_SERVICE, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-imports-a-composition-root',
      severity: 'error',
      from: {},
      to: { path: '^(services/[^/]+|cli)/main\\.ts$' },
    },
    {
      name: 'products-never-know-tests',
      severity: 'error',
      from: { path: '^(libs|services|cli)/', pathNot: TEST },
      to: { path: TEST },
    },
    {
      name: 'no-import-circles',
      comment: 'Not of types either: what two files share lies below both.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'every-import-leads-somewhere', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    // TypeScript 7 has no programmatic interface: SWC reads the sources.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.waybell|^(apps|packages)/[^/]+/dist|^tests/[^/]+/uses' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.d.ts'],
    },
  },
};
