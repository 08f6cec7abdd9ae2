/**
 * What every store must do, whatever it is built on. A store's own test calls this with a way to open one;
 * tests speak to it through its ports only, each in a project of its own, and wait for answers, never for time.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { type Open, Suite } from './bench.ts';
import { controlContract } from './control.ts';
import { durabilityContract } from './durability.ts';
import { firingContract } from './firing.ts';
import { listsContract } from './lists.ts';
import { profilesContract } from './profiles.ts';
import { receiptsContract } from './receipts.ts';
import { schedulesContract } from './schedules.ts';
import { sweepsContract } from './sweeps.ts';

export function storeContract(name: string, open: Open): void {
  describe(name, () => {
    const suite = new Suite(open);
    beforeAll(() => suite.start());
    afterAll(() => suite.stop());

    schedulesContract(suite);
    listsContract(suite);
    profilesContract(suite);
    receiptsContract(suite);
    firingContract(suite);
    sweepsContract(suite);
    controlContract(suite);
    durabilityContract(suite);
  });
}
