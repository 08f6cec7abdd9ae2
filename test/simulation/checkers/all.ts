import { apiChecker } from './api.ts';
import { attemptsChecker } from './attempts.ts';
import { breakerChecker } from './breaker.ts';
import { lifeChecker } from './life.ts';
import { neighboursChecker } from './neighbours.ts';
import { paceChecker } from './pace.ts';
import { promiseChecker } from './promise.ts';
import { punctualityChecker } from './punctuality.ts';
import { reservationsChecker } from './reservations.ts';
import type { CheckerOf } from './scene.ts';
import { schedulesChecker } from './schedules.ts';
import { sendsChecker } from './sends.ts';
import { settlingChecker } from './settling.ts';
import { stopsChecker } from './stops.ts';
import { sweepsChecker } from './sweeps.ts';

export const CHECKERS: readonly CheckerOf[] = [
  lifeChecker,
  attemptsChecker,
  sendsChecker,
  settlingChecker,
  schedulesChecker,
  sweepsChecker,
  neighboursChecker,
  punctualityChecker,
  breakerChecker,
  paceChecker,
  reservationsChecker,
  apiChecker,
  stopsChecker,
  promiseChecker,
];
