/*
 * One lane of the store: enqueue, claim, settle and reap (sql/pulse_sql/migrations/0003 to 0008), for spin.
 *
 * Run by `make model`; README.md says what is covered and what is not. A macro of run.py's list puts one known mistake in.
 *
 * A step of a process is what other transactions can see happen at once: one draw of a number, one statement's reads (they
 * have one snapshot), one commit. Rows are written when their seq is drawn, as nobody sees them before the commit.
 */

#ifndef ENQUEUERS
#define ENQUEUERS 3             /* transactions that enqueue, numbered in the order of their xids (they are alike) */
#endif
#ifndef ROWS
#define ROWS 4                  /* rows that they write in all; each writes one or more */
#endif
#ifndef CLAIMERS
#define CLAIMERS 2
#endif
#ifndef TRIES
#define TRIES 2                 /* claims that draw an xid, per claimer; those that find nothing are not counted */
#endif
#ifndef ABORTS
#define ABORTS 1                /* claims and reaps that roll back, in all; enqueuers may all */
#endif

#define NX 16                   /* above the highest xid and the highest seq that any run draws */
#define NS 12
#define END 255                 /* a seq above all others */

#define HAS(set, i)   (((set) >> (i)) & 1)
#define ADD(set, i)   set = set | (1 << (i))
#define DROP(set, i)  set = set & ~(1 << (i))

/* The cluster. A set of xids or of seqs is a bitmap. */
byte  next_x = 1;               /* the next xid */
byte  done_x;                   /* the highest completed xid: a snapshot's xmax is one past it, NOT next_x */
short open_x;                   /* in progress: a snapshot's xip are those below xmax */
short good_x;                   /* committed */
byte  last_s;                   /* the sequence's last value */

/* The log: row s was written by row_x[s] and delivers job[s] (a job is named after its first row). */
byte  row_x[NS];
byte  job[NS];

/* The lane's newest ledger row. */
byte  k_n, k_x, k_s, k_floor, k_next_x, k_next_s;
short k_late;
byte  k_late_s[NX];

/* Leases: the open bits by executor. 0 is the executor of the last claims, which nobody reaps. */
short leased[CLAIMERS + 1];
short ended;                    /* executors that have ended */

/* Locks. */
bool  lane_lock, lease_lock;
short executor_lock;

/* What the properties speak of. */
short claimed;                  /* rows that a committed claim took */
short given;                    /* rows whose delivery a committed reap ended */
short done;                     /* jobs settled */

byte  drawn_by = 0;             /* enqueuers that have their xid */
byte  rows;
byte  aborts;
byte  finished;

/* Scratch of one d_step; no part of the state, so it must not be read in another. */
hidden byte i, s, n, last_x, last_seq;
hidden short snap_open;
hidden byte cut, hit, trimmed;

inline draw_xid(mine) { mine = next_x; ADD(open_x, next_x); next_x++; assert(next_x < NX) }
inline complete(mine) { DROP(open_x, mine); done_x = (mine > done_x -> mine : done_x) }

proctype enqueuer(byte nr) {
  byte me, wrote;
  atomic { drawn_by == nr; draw_xid(me); drawn_by++ }
  do
  :: atomic { rows < ROWS -> rows++; last_s++; assert(last_s < NS); row_x[last_s] = me; job[last_s] = last_s; wrote++ }
  :: atomic { wrote > 0 || rows == ROWS -> break }
  od;
  atomic {
    if
    :: wrote > 0 -> ADD(good_x, me)
    :: true
    fi;
    complete(me); me = 0; wrote = 0; finished++
  }
}

/* The rows a claim's statement finds: late transactions that have become visible, then what lies beyond the cursor. */
inline read_rows() {
  batch = 0; n = 0; last_x = 0; last_seq = 0;
  i = 1;
  do
  :: i < next_x && n < slots ->
     if
     :: HAS(good_x, i) ->
        assert(!HAS(k_late, i) || i <= k_x);
        s = 1;
        do
        :: s <= last_s && n < slots ->
           hit = row_x[s] == i &&
                 ((HAS(k_late, i) && s > k_late_s[i]) ||
                  (!HAS(k_late, i) && (i > k_x || (i == k_x && s > k_s)) && s > k_floor));
           if
           :: hit -> ADD(batch, s); n++; last_x = i; last_seq = s
           :: else
           fi;
           s++
        :: else -> break
        od
     :: else
     fi;
     i++
  :: else -> break
  od;
  found_n = n; found_x = last_x; found_s = last_seq;
  my_n = k_n
}

/* The transactions in progress: a snapshot does not list its own. */
inline others() {
  snap_open = open_x;
  if
  :: me > 0 -> DROP(snap_open, me)
  :: else
  fi
}

/* pg_current_snapshot(), and from it the late list that the new ledger row will carry. */
inline read_snapshot() {
  others();
  xmax = done_x + 1;
#ifdef CUT_FORGETS
  cut = false;
#else
  cut = found_n == slots;                    /* there may be more behind the last one */
#endif
  late = 0; trimmed = false;
  i = 1;
  do
  :: i < NX ->
     late_s[i] = 0;
     if
     :: HAS(k_late, i) ->
        if
        :: HAS(snap_open, i) || i >= xmax || (cut && i >= found_x) ->
           ADD(late, i);
#ifdef NO_SUB_CURSOR
           late_s[i] = k_late_s[i]
#else
           late_s[i] = (i == found_x -> found_s : k_late_s[i])
#endif
        :: else -> trimmed = true
        fi
     :: !HAS(k_late, i) && HAS(snap_open, i) && i < xmax && i > k_x && i < found_x ->
        ADD(late, i);                        /* newly overtaken */
#ifdef LATE_AT_NEXT
        late_s[i] = k_next_s
#else
        late_s[i] = k_floor
#endif
     :: else
     fi;
     i++
  :: else -> break
  od;
#ifdef NO_LATE
  late = 0;
#endif
  x = k_x; seq = k_s;
  if
  :: found_n > 0 && (found_x > k_x || (found_x == k_x && found_s > k_s)) -> x = found_x; seq = found_s
  :: else
  fi
}

/* pass_open: the lane is empty; move the cursor past what is in progress, which becomes late. */
inline pass() {
  others();
  i = 1;
  do
  :: i < NX ->
     late_s[i] = k_late_s[i];
     if
     :: HAS(snap_open, i) && i > k_x && i < xmax -> ADD(late, i); late_s[i] = k_floor
     :: HAS(k_late, i) -> ADD(late, i)
     :: else
     fi;
     i++
  :: else -> break
  od;
#ifdef PASS_ALL
  x = next_x - 1;
#else
  x = (xmax - 1 > k_x -> xmax - 1 : k_x);
#endif
  seq = END
}

/* Insert the ledger row and the lease, and commit. */
inline write_claim(e) {
  k_x = x; k_s = seq; k_late = late;
  i = 1;
  do
  :: i < NX -> k_late_s[i] = (HAS(late, i) -> late_s[i] : 0); i++
  :: else -> break
  od;
  if
  :: k_x >= k_next_x ->
     k_floor = (k_next_s > k_floor -> k_next_s : k_floor);
     k_next_s = drawn;
#ifdef WRONG_XMAX
     k_next_x = xmax
#else
     k_next_x = me
#endif
  :: else
  fi;
  k_n++;
  assert(!(claimed & batch));                /* no row is claimed twice */
  s = 1;
  do
  :: s <= last_s ->
     if
     :: HAS(batch, s) ->
        assert(!HAS(done, job[s]));          /* nor one whose job is settled, */
        i = 1;
        do                                   /* nor one whose job is leased */
        :: i <= last_s ->
           n = 0;
           do
           :: n <= CLAIMERS -> assert(!(HAS(leased[n], i) && job[i] == job[s])); n++
           :: else -> break
           od;
           i++
        :: else -> break
        od
     :: else
     fi;
     s++
  :: else -> break
  od;
  claimed = claimed | batch;
  leased[e] = leased[e] | batch
}

inline forget() {
  i = 0;
  do
  :: i < NX -> late_s[i] = 0; i++
  :: else -> break
  od;
  drawn = 0; me = 0; x = 0; seq = 0; late = 0; batch = 0; found_n = 0; found_x = 0; found_s = 0; xmax = 0; my_n = 0; slots = 0
}

inline unlock(e) {
#if !defined(NO_LANE_LOCK) && !defined(KEY_ALONE)
  lane_lock = false;
#endif
  DROP(executor_lock, e)
}

proctype claimer(byte e) {
  byte drawn, me, x, seq, found_n, found_x, found_s, xmax, my_n, slots, tries;
  byte late_s[NX];
  short late, batch, held;
  bool stop, write;
  do
  :: atomic { tries < TRIES && !stop ->
#ifdef XID_FIRST
       draw_xid(me) }                        /* an acknowledgment came first in this transaction */
     atomic {
#endif
       drawn = last_s;
#ifdef TORN_SEQ
       if
       :: drawn = drawn + 2                  /* the page as it looks while nextval writes its log record */
       :: true
       fi;
#endif
     }
#ifdef REAPER
     atomic {
       !HAS(executor_lock, e) -> ADD(executor_lock, e);
       if
       :: HAS(ended, e) -> stop = true
       :: else
       fi
     }
#endif
#ifdef EARLY_XID
     if                                      /* another lane of the same claim may have drawn it already */
     :: atomic { me == 0 && !stop -> draw_xid(me) }
     :: true
     fi;
#endif
     atomic {
#if !defined(NO_LANE_LOCK) && !defined(KEY_ALONE)
       !lane_lock -> lane_lock = true;
#endif
       if
       :: slots = 1
       :: slots = NS
       fi;
       d_step { read_rows() }
#ifdef TWO_STATEMENTS
     }
     atomic {
#endif
       d_step { read_snapshot(); write = !stop && (found_n > 0 || trimmed) }
#ifdef PASS_OPEN
       if
       :: !stop && found_n == 0 -> d_step { pass(); write = true }
       :: true
       fi;
#endif
       if
       :: !write ->
          if
          :: me > 0 -> complete(me); tries++
          :: else
          fi;
          unlock(e); d_step { forget() }
       :: else
       fi
     }
     if
     :: write ->
        if
        :: atomic { me == 0 -> draw_xid(me) }
        :: me > 0
        fi;
        atomic {
          if
#ifdef KEY_ALONE
          :: my_n != k_n                     /* the unique key (lane, n) refuses it */
          :: my_n == k_n ->
#else
          :: true ->
#endif
             d_step { write_claim(e); ADD(good_x, me); held = held | batch }
          :: aborts < ABORTS -> aborts++
          fi;
          complete(me); unlock(e); tries++; write = false; d_step { forget() }
        }
     :: else
     fi
#ifdef REAPER
  :: atomic { held != 0 && !lease_lock ->    /* settle: the lease's row lock makes it one step */
       if
       :: batch = held
       :: batch = held & -held               /* a part of it */
       fi;
       d_step {
#ifdef NO_FENCE
         late = batch;
#else
         late = batch & leased[e];
#endif
         assert(!(late & given));            /* no settle after a reap took effect */
         leased[e] = leased[e] & ~late;
         s = 1;
         do
         :: s <= last_s ->
            if
            :: HAS(late, s) -> assert(!HAS(done, job[s])); ADD(done, job[s])
            :: else
            fi;
            s++
         :: else -> break
         od;
         late = 0
       }
       if
       :: held = held & ~batch
#ifndef SEND_ONCE
       :: true                               /* the answer was lost: it may be sent again */
#endif
       fi;
       batch = 0
     }
#endif
  :: atomic { stop || true -> break }
  od;
  atomic { held = 0; tries = 0; stop = false; finished++ }
}

#ifdef REAPER
/* reap(1): end the executor, then give back what it holds. It may be alive and only slow. */
proctype reaper() {
  byte me;
  short list, back, left;
#ifdef STALE_REAP
  list = leased[1];
#endif
  if
  :: atomic { !HAS(executor_lock, 1) -> ADD(executor_lock, 1); draw_xid(me) }
#ifndef STALE_REAP
     list = leased[1];
#endif
     atomic {                                /* close: locks the lease and looks again */
       lease_lock = true;
#ifdef NO_RECHECK
       back = list;
#else
       back = list & leased[1];
#endif
       left = back
     }
     do
     :: atomic { left != 0 ->
          d_step {
            s = 1;
            do
            :: !HAS(left, s) -> s++
            :: else -> break
            od;
            DROP(left, s);
            last_s++; assert(last_s < NS);
            row_x[last_s] = me; job[last_s] = job[s]
          }
        }
     :: atomic { left == 0 -> break }
     od;
     atomic {
       if
       :: true ->
          d_step { ADD(good_x, me); ADD(ended, 1); leased[1] = leased[1] & ~back; given = given | back }
       :: aborts < ABORTS -> aborts++
       fi;
       complete(me); lease_lock = false; DROP(executor_lock, 1)
     }
  :: true
  fi;
  atomic { me = 0; list = 0; back = 0; finished++ }
}
#define REAPERS 1
#else
#define REAPERS 0
#endif

init {
  byte drawn, me, x, seq, found_n, found_x, found_s, xmax, my_n, slots, nr;
  byte late_s[NX];
  short late, batch;
  bool more = true;
  atomic {
    do
    :: nr < ENQUEUERS -> run enqueuer(nr); nr++
    :: else -> break
    od;
    nr = 1;
    do
    :: nr <= CLAIMERS -> run claimer(nr); nr++
    :: else -> break
    od;
#ifdef REAPER
    run reaper();
#endif
    nr = 0
  }
  /* All is quiet: claim until nothing is found, then look. */
  atomic {
    finished == ENQUEUERS + CLAIMERS + REAPERS;
    do
    :: more ->
       d_step { drawn = last_s; slots = NS; read_rows(); read_snapshot(); more = found_n > 0 };
       if
       :: more -> draw_xid(me); d_step { write_claim(0); ADD(good_x, me); complete(me); forget() }
       :: else
       fi
    :: else -> break
    od;
    d_step {
      s = 1;
      do
      :: s <= last_s ->
         if
         :: HAS(good_x, row_x[s]) ->
            assert(HAS(claimed, s));         /* no committed row is lost */
            n = HAS(done, job[s]);           /* and its job is settled or leased, once */
            i = 1;
            do
            :: i <= last_s ->
               if
               :: job[i] == job[s] && HAS(good_x, row_x[i]) ->
                  nr = 0;
                  do
                  :: nr <= CLAIMERS -> n = n + HAS(leased[nr], i); nr++
                  :: else -> break
                  od
               :: else
               fi;
               i++
            :: else -> break
            od;
            assert(n == 1)
         :: else -> assert(!HAS(claimed, s)) /* nor is one claimed that was rolled back */
         fi;
         s++
      :: else -> break
      od;
      assert(!(HAS(ended, 1) && leased[1]))  /* who has ended holds nothing */
    }
  }
}
