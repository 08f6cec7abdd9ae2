/**
 * The contract of every store. The test of a store calls this with a function that opens one. Tests use only the
 * ports, each in its own project, and wait for answers and never for time.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { alertsContract } from './alerts.ts';
import { clusterContract } from './cluster.ts';
import { controlContract } from './control.ts';
import { dueScansContract } from './due-scans.ts';
import { durabilityContract } from './durability.ts';
import { endpointSecretsContract } from './endpoint-secrets.ts';
import { fencingContract } from './fencing.ts';
import { firingContract } from './firing.ts';
import { type Open, Suite } from './fixture.ts';
import { gatesContract } from './gates.ts';
import { insightContract } from './insight.ts';
import { labelsContract } from './labels.ts';
import { listsContract } from './lists.ts';
import { loadingContract } from './loading.ts';
import { lostClaimsContract } from './lost-claims.ts';
import { namesContract } from './names.ts';
import { notificationsContract } from './notifications.ts';
import { payloadVersionsContract } from './payload-versions.ts';
import { peopleContract } from './people.ts';
import { profilesContract } from './profiles.ts';
import { receiptsContract } from './receipts.ts';
import { replayJobsContract } from './replay-jobs.ts';
import { retentionContract } from './retention.ts';
import { schedulesContract } from './schedules.ts';
import { sealedContract } from './sealed.ts';
import { statsContract } from './stats.ts';
import { sweepsContract, unfinishedSweepsContract } from './sweeps.ts';
import { triggeredContract } from './triggered.ts';
import { unsentContract } from './unsent.ts';

export function storeContract(name: string, open: Open): void {
  describe(name, () => {
    const suite = new Suite(open);
    beforeAll(() => suite.start());
    afterAll(() => suite.stop());

    schedulesContract(suite);
    listsContract(suite);
    labelsContract(suite);
    profilesContract(suite);
    receiptsContract(suite);
    firingContract(suite);
    unsentContract(suite);
    sweepsContract(suite);
    unfinishedSweepsContract(suite);
    dueScansContract(suite);
    loadingContract(suite);
    lostClaimsContract(suite);
    gatesContract(suite);
    retentionContract(suite);
    replayJobsContract(suite);
    alertsContract(suite);
    controlContract(suite);
    namesContract(suite);
    payloadVersionsContract(suite);
    triggeredContract(suite);
    notificationsContract(suite);
    sealedContract(suite);
    endpointSecretsContract(suite);
    peopleContract(suite);
    clusterContract(suite);
    fencingContract(suite);
    statsContract(suite);
    insightContract(suite);
    durabilityContract(suite);
  });
}
