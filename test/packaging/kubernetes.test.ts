/** Tests that each manifest matches the schema of Kubernetes, and that they fit together. */
import * as fc from 'fast-check';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Namespace, Secret, Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isInside, isPublicAddress, parseAddress } from '#src/domain/public-address.ts';
import { graceSeconds, KUBERNETES, read } from './files.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
}

type Model = new (data: never) => { validate(): void };

const MODELS: Readonly<Record<string, Model>> = {
  'apps/v1 Deployment': Deployment,
  'networking.k8s.io/v1 Ingress': Ingress,
  'networking.k8s.io/v1 NetworkPolicy': NetworkPolicy,
  'policy/v1 PodDisruptionBudget': PodDisruptionBudget,
  'v1 Namespace': Namespace,
  'v1 Secret': Secret,
  'v1 Service': Service,
};

const MANIFESTS = KUBERNETES.flatMap((path) =>
  parseAllDocuments(read(path)).map((document) => ({ path, manifest: document.toJS() as Manifest })),
);

function validate(manifest: Manifest): void {
  const name = `${manifest.apiVersion} ${manifest.kind}`;
  const Kind = MODELS[name];
  if (Kind === undefined) throw new Error(`There is no model for ${name}.`);
  new Kind(manifest as never).validate();
}

function manifestOf(kind: string): Manifest {
  const found = MANIFESTS.filter(({ manifest }) => manifest.kind === kind);
  expect(found).toHaveLength(1);
  return found[0]?.manifest ?? expect.fail();
}

describe('deploy/kubernetes', () => {
  test.each(MANIFESTS)('$path is valid', ({ manifest }) => {
    expect(() => validate(manifest)).not.toThrow();
    expect(() => validate({ ...manifest, metadata: 'no object' as never })).toThrow();
    expect(
      manifest.kind === 'Namespace' || manifest.metadata.namespace === manifestOf('Namespace').metadata.name,
    ).toBe(true);
  });

  const { spec } = manifestOf('Deployment') as unknown as { readonly spec: DeploymentSpec };
  const pod = spec.template.spec;
  const container = pod.containers[0] ?? expect.fail();

  test('all selectors select the pods of the deployment', () => {
    const { labels } = spec.template.metadata;
    const service = manifestOf('Service').spec as {
      readonly selector: unknown;
      readonly ports: readonly Port[];
    };
    const budget = manifestOf('PodDisruptionBudget').spec as {
      readonly selector: unknown;
      readonly minAvailable: number;
    };
    expect(service.selector).toEqual(labels);
    expect(budget.selector).toEqual({ matchLabels: labels });
    expect(spec.selector).toEqual({ matchLabels: labels });
    expect(service.ports[0]?.targetPort).toBe(container.ports[0]?.name);
    expect(budget.minAvailable).toBeLessThan(spec.replicas);
  });

  test('pods have the right probes, and only the privileges that they need', () => {
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources.limits.memory).toBe('1Gi');
  });

  test('secrets are files that the group of the pod can read, and are not part of the applied manifests', () => {
    const secret = manifestOf('Secret') as unknown as {
      readonly metadata: { readonly name: string };
      readonly stringData: Readonly<Record<string, string>>;
    };
    const [volume] = pod.volumes;
    expect(volume?.secret).toEqual({ secretName: secret.metadata.name, defaultMode: 0o440 });
    expect(pod.securityContext.fsGroup).toBe(pod.securityContext.runAsGroup);
    const mount = container.volumeMounts[0] ?? expect.fail();
    expect(mount).toMatchObject({ name: volume?.name, readOnly: true });
    const files = container.env.filter(({ name }) => name.endsWith('_FILE')).map(({ value }) => value);
    expect(files.toSorted()).toEqual(
      Object.keys(secret.stringData)
        .map((name) => `${mount.mountPath}/${name}`)
        .toSorted(),
    );
    expect(container).not.toHaveProperty('envFrom');
    expect(KUBERNETES.filter((path) => path.includes('secret'))).toEqual([
      'deploy/kubernetes/secret.yaml.example',
    ]);
  });

  test('the ingress uses TLS, and does not publish paths that need no key', () => {
    const { spec: ingress } = manifestOf('Ingress') as unknown as { readonly spec: IngressSpec };
    const service = manifestOf('Service') as unknown as {
      readonly metadata: { readonly name: string };
      readonly spec: { readonly ports: readonly Port[] };
    };
    const hosts = ingress.rules.map(({ host }) => host);
    expect(ingress.tls.flatMap((tls) => tls.hosts)).toEqual(hosts);
    const paths = ingress.rules.flatMap(({ http }) => http.paths);
    for (const { backend } of paths) {
      const port = { name: service.spec.ports[0]?.name };
      expect(backend.service).toEqual({ name: service.metadata.name, port });
    }
    expect(paths.map(({ path, pathType }) => `${path} ${pathType}`)).toEqual([
      '/v1 Prefix',
      '/dashboard Prefix',
      '/docs Prefix',
      '/openapi.json Exact',
    ]);
    expect(KUBERNETES).toContain('deploy/kubernetes/ingress.yaml.example');
  });

  test('a stop has more time than the pre-stop pause and the grace together', () => {
    const pause = Number(container.lifecycle.preStop.exec.command[1]);
    expect(container.env).toContainEqual({ name: 'SCHED_SHUTDOWN_GRACE', value: `${graceSeconds()}s` });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + graceSeconds());
  });
});

describe('the network policy', () => {
  const { spec: policy } = manifestOf('NetworkPolicy') as unknown as { readonly spec: PolicySpec };
  const blocks = policy.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));

  test('applies to the pods of the deployment in both directions', () => {
    const { spec } = manifestOf('Deployment') as unknown as { readonly spec: DeploymentSpec };
    expect(policy.podSelector).toEqual({ matchLabels: spec.template.metadata.labels });
    expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
    const port = spec.template.spec.containers[0]?.ports[0]?.name;
    expect(policy.ingress.map(({ ports }) => ports)).toEqual([[{ protocol: 'TCP', port }]]);
  });

  test('allows connections to name servers, to PostgreSQL and over TCP to the Internet', () => {
    const ports = policy.egress.map((rule) =>
      rule.ports.map(({ protocol, port }) => `${protocol} ${port ?? 'any'}`),
    );
    expect(ports).toEqual([['UDP 53', 'TCP 53'], ['TCP 5432'], ['TCP any']]);
  });

  const isAllowed = (text: string) =>
    blocks.some(({ cidr, except }) => isIn(text, [cidr]) && !isIn(text, except));

  test('allows the same addresses as the egress guard, at every edge of a range', () => {
    const edges = blocks.flatMap(({ cidr, except }) => [cidr, ...except]).flatMap(edgesOf);
    expect(edges.filter((text) => isAllowed(text) !== isPublicAddress(text))).toEqual([]);
    expect(edges.filter(isAllowed).length).toBeGreaterThan(20);
  });

  test('allows the same addresses as the egress guard between the edges, except for ISATAP', () => {
    // Random addresses of the whole IPv6 space would hardly ever be in the special ranges.
    const starts = [
      '2001',
      '2001:db8',
      '2002',
      '2620:4f:8000',
      '3ffe',
      '3fff:fff',
      '2a00',
      'fd00',
      'fe80',
      '64:ff9b',
    ];
    const ipv6 = fc
      .tuple(fc.constantFrom(...starts), fc.nat({ max: 65_535 }))
      .map(([start, end]) => `${start}:${end.toString(16)}::1`);
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), ipv6), (text) => {
        expect(isAllowed(text)).toBe(isPublicAddress(text));
      }),
      { numRuns: 5_000 },
    );
  });
});

function isIn(text: string, cidrs: readonly string[]): boolean {
  const address = parseAddress(text);
  const ranges = cidrs.map((cidr) => {
    const [network = '', bits = ''] = cidr.split('/');
    return { address: network, prefixBits: Number(bits), family: parseAddress(network)?.family ?? 'ipv4' };
  });
  return address !== undefined && isInside(address, ranges);
}

/** The first and last address of a range, and their neighbours outside the range. */
function edgesOf(cidr: string): readonly string[] {
  const [network = '', bits = ''] = cidr.split('/');
  const { bytes, family } = parseAddress(network) ?? expect.fail();
  const first = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  const width = BigInt(bytes.length * 8);
  const size = 1n << (width - BigInt(bits));
  return [first - 1n, first, first + size - 1n, first + size]
    .filter((value) => value >= 0n && value < 1n << width)
    .map((value) => textOf(value, family));
}

function textOf(value: bigint, family: 'ipv4' | 'ipv6'): string {
  if (family === 'ipv4') return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n];
  return groups.map((shift) => ((value >> shift) & 65_535n).toString(16)).join(':');
}

interface PolicySpec {
  readonly podSelector: unknown;
  readonly policyTypes: readonly string[];
  readonly ingress: readonly { readonly ports: unknown }[];
  readonly egress: readonly {
    readonly to: readonly {
      readonly ipBlock?: { readonly cidr: string; readonly except: readonly string[] };
    }[];
    readonly ports: readonly { readonly protocol: string; readonly port?: number }[];
  }[];
}

interface IngressSpec {
  readonly tls: readonly { readonly hosts: readonly string[] }[];
  readonly rules: readonly {
    readonly host: string;
    readonly http: {
      readonly paths: readonly {
        readonly path: string;
        readonly pathType: string;
        readonly backend: { readonly service: unknown };
      }[];
    };
  }[];
}

interface Port {
  readonly name?: string;
  readonly targetPort?: string;
}

interface Probe {
  readonly httpGet: unknown;
}

interface DeploymentSpec {
  readonly replicas: number;
  readonly selector: unknown;
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly securityContext: { readonly runAsGroup: number; readonly fsGroup: number };
      readonly volumes: readonly { readonly name: string; readonly secret: unknown }[];
      readonly containers: readonly {
        readonly env: readonly { readonly name: string; readonly value: string }[];
        readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
        readonly ports: readonly Port[];
        readonly livenessProbe: Probe;
        readonly readinessProbe: Probe;
        readonly startupProbe: Probe;
        readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
        readonly resources: { readonly limits: { readonly memory: string } };
        readonly securityContext: unknown;
      }[];
    };
  };
}
