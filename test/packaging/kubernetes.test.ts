/** Each manifest is what the schema of Kubernetes asks for, and they fit each other. */
import { Deployment } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Namespace, Secret, Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
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

function theOne(kind: string): Manifest {
  const found = MANIFESTS.filter(({ manifest }) => manifest.kind === kind);
  expect(found).toHaveLength(1);
  return found[0]?.manifest ?? expect.fail();
}

describe('deploy/kubernetes', () => {
  test.each(MANIFESTS)('$path is valid', ({ manifest }) => {
    expect(() => validate(manifest)).not.toThrow();
    expect(() => validate({ ...manifest, metadata: 'no object' as never })).toThrow();
    expect(
      manifest.kind === 'Namespace' || manifest.metadata.namespace === theOne('Namespace').metadata.name,
    ).toBe(true);
  });

  const { spec } = theOne('Deployment') as unknown as { readonly spec: DeploymentSpec };
  const pod = spec.template.spec;
  const container = pod.containers[0] ?? expect.fail();

  test('what selects pods selects those of the deployment', () => {
    const { labels } = spec.template.metadata;
    const service = theOne('Service').spec as { readonly selector: unknown; readonly ports: readonly Port[] };
    const budget = theOne('PodDisruptionBudget').spec as {
      readonly selector: unknown;
      readonly minAvailable: number;
    };
    expect(service.selector).toEqual(labels);
    expect(budget.selector).toEqual({ matchLabels: labels });
    expect(spec.selector).toEqual({ matchLabels: labels });
    expect(service.ports[0]?.targetPort).toBe(container.ports[0]?.name);
    expect(budget.minAvailable).toBeLessThan(spec.replicas);
  });

  test('pods are asked what they answer, and may do no more than they must', () => {
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

  test('settings come from the secret, which stays out of what is applied', () => {
    expect(container.envFrom).toEqual([{ secretRef: { name: theOne('Secret').metadata.name } }]);
    expect(KUBERNETES.filter((path) => path.includes('secret'))).toEqual([
      'deploy/kubernetes/secret.yaml.example',
    ]);
  });

  test('a stop has more time than the pause before it and the grace together', () => {
    const pause = Number(container.lifecycle.preStop.exec.command[1]);
    expect(container.env).toEqual([{ name: 'SCHED_SHUTDOWN_GRACE', value: `${graceSeconds()}s` }]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + graceSeconds());
  });
});

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
      readonly securityContext: unknown;
      readonly containers: readonly {
        readonly env: unknown;
        readonly envFrom: unknown;
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
