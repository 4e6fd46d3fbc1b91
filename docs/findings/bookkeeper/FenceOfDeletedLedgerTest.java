package org.apache.bookkeeper.client;

import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.bookkeeper.bookie.Bookie;
import org.apache.bookkeeper.client.BookKeeper.DigestType;
import org.apache.bookkeeper.test.BookKeeperClusterTestCase;
import org.junit.jupiter.api.Test;

/** The writer of a ledger that was fenced and deleted can't add to it any more. */
public class FenceOfDeletedLedgerTest extends BookKeeperClusterTestCase {
    private static final byte[] PASSWORD = "".getBytes();

    public FenceOfDeletedLedgerTest() {
        super(2);
        baseConf.setGcWaitTime(500);
    }

    @Test
    public void withoutARestart() throws Exception {
        LedgerHandle writer = writerOfADeletedLedger();
        assertThrows(BKException.class, () -> writer.addEntry("e2".getBytes()));
    }

    @Test
    public void afterARestartOfItsBookies() throws Exception {
        LedgerHandle writer = writerOfADeletedLedger();
        restartBookies();
        assertThrows(BKException.class, () -> writer.addEntry("e2".getBytes()));
    }

    /** The ledger is fenced by a recovery, deleted, and collected by both bookies. */
    private LedgerHandle writerOfADeletedLedger() throws Exception {
        LedgerHandle writer = bkc.createLedger(2, 2, 2, DigestType.CRC32, PASSWORD);
        writer.addEntry("e0".getBytes());
        writer.addEntry("e1".getBytes());
        BookKeeperTestClient other = new BookKeeperTestClient(baseClientConf);
        other.openLedger(writer.getId(), DigestType.CRC32, PASSWORD).close();
        other.deleteLedger(writer.getId());
        for (int i = 0; i < 2; i++) {
            while (has(serverByIndex(i).getBookie(), writer.getId())) {
                Thread.sleep(100);
            }
        }
        return writer;
    }

    private static boolean has(Bookie bookie, long ledger) throws Exception {
        try {
            bookie.readEntry(ledger, 0).release();
            return true;
        } catch (Bookie.NoLedgerException | Bookie.NoEntryException e) {
            return false;
        }
    }
}
