/**
 * What `sched dev` always has, so that an example can be pasted as it is. They are printed here for all to read:
 * that is why `sched dev` listens on loopback alone.
 */

export const DEV_URL = 'http://127.0.0.1:8080';
export const DEV_TEST_KEY = 'sk_test_local_development_only';
export const DEV_LIVE_KEY = 'sk_live_local_development_only';
/** Of both modes. */
export const DEV_SIGNING_SECRET = 'whsec_local_development_only';
