import { apiChecker } from '../../checkers/api.ts';
import { attemptsChecker } from '../../checkers/attempts.ts';
import { breakerChecker } from '../../checkers/breaker.ts';
import { lifeChecker } from '../../checkers/life.ts';
import { neighboursChecker } from '../../checkers/neighbours.ts';
import { paceChecker } from '../../checkers/pace.ts';
import { promiseChecker } from '../../checkers/promise.ts';
import { reservationsChecker } from '../../checkers/reservations.ts';
import { schedulesChecker } from '../../checkers/schedules.ts';
import { sendsChecker } from '../../checkers/sends.ts';
import { settlingChecker } from '../../checkers/settling.ts';
import { stopsChecker } from '../../checkers/stops.ts';
import { sweepsChecker } from '../../checkers/sweeps.ts';
import type { ClusterCheckerOf } from '../scene.ts';
import { ownershipChecker } from './ownership.ts';
import { punctualityInCluster } from './punctuality.ts';
import { sharesChecker } from './shares.ts';

/** Those of a single process, all but its punctuality, and those of a cluster. */
export const CLUSTER_CHECKERS: readonly ClusterCheckerOf[] = [
  ownershipChecker,
  lifeChecker,
  attemptsChecker,
  sendsChecker,
  settlingChecker,
  schedulesChecker,
  sweepsChecker,
  neighboursChecker,
  punctualityInCluster,
  breakerChecker,
  paceChecker,
  reservationsChecker,
  apiChecker,
  stopsChecker,
  sharesChecker,
  promiseChecker,
];
