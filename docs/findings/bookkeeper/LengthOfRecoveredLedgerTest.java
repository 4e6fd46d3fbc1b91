package org.apache.bookkeeper.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.bookie.BookieException;
import org.apache.bookkeeper.bookie.TestBookieImpl;
import org.apache.bookkeeper.client.BookKeeper.DigestType;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.WriteCallback;
import org.apache.bookkeeper.test.BookKeeperClusterTestCase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A recovery that leaves an entry out closes the ledger with the length of the entries without it.
 *
 * <p>Entry 0 is on all three bookies, entry 1 only on the first of the ensemble. The recovery has
 * the LAC from that bookie, asks the two others for entry 1 first, and closes the ledger at entry 0.
 */
public class LengthOfRecoveredLedgerTest extends BookKeeperClusterTestCase {
    private static final byte[] PASSWORD = "".getBytes();

    private final Map<BookieId, ForgetfulBookie> bookies = new HashMap<>();
    private LedgerHandle writer;
    private LedgerHandle recovered;

    public LengthOfRecoveredLedgerTest() {
        super(0);
        baseClientConf.setAddEntryTimeout(60);
        baseClientConf.setFirstSpeculativeReadTimeout(60_000); // no read but those it must make
    }

    @BeforeEach
    public void recoverWhileEntryOneIsOnOneBookie() throws Exception {
        for (int i = 0; i < 3; i++) {
            ServerConfiguration conf = newServerConfiguration();
            ForgetfulBookie bookie = new ForgetfulBookie(conf);
            bookies.put(startAndAddBookie(conf, bookie).getServer().getBookieId(), bookie);
        }
        writer = bkc.createLedger(3, 3, 2, DigestType.CRC32, PASSWORD);
        List<BookieId> ensemble = writer.getLedgerMetadata().getEnsembleAt(0);
        writer.addEntry("e0".getBytes());
        waitUntilStored(ensemble, 0);

        bookies.get(ensemble.get(1)).dropsEntryOne = true;
        bookies.get(ensemble.get(2)).dropsEntryOne = true;
        // The answers of the first two bookies are enough for the LAC.
        bookies.get(ensemble.get(2)).fencesLate = true;
        writer.asyncAddEntry("e1".getBytes(), (rc, handle, entry, context) -> { }, null);
        waitUntilStored(ensemble.subList(0, 1), 1);

        recovered = new BookKeeperTestClient(baseClientConf)
                .openLedger(writer.getId(), DigestType.CRC32, PASSWORD);
        assertEquals(0, recovered.getLastAddConfirmed(), "last entry");
    }

    @Test
    public void theLengthIsThatOfTheEntriesOfTheLedger() {
        assertEquals(2, recovered.getLength(), "length");
    }

    @Test
    public void theWriterCanCloseTheLedgerAtTheSameLastEntry() throws Exception {
        writer.close();
    }

    private void waitUntilStored(List<BookieId> where, long entry) throws Exception {
        for (BookieId id : where) {
            while (bookies.get(id).lastStored < entry) {
                Thread.sleep(10);
            }
        }
    }

    /** A bookie whose storing of entry 1 never begins, as if it were paused and killed. */
    private static class ForgetfulBookie extends TestBookieImpl {
        volatile boolean dropsEntryOne;
        volatile boolean fencesLate;
        volatile long lastStored = -1;

        ForgetfulBookie(ServerConfiguration conf) throws Exception {
            super(conf);
        }

        @Override
        public void addEntry(ByteBuf entry, boolean ackBeforeSync, WriteCallback callback,
                             Object context, byte[] masterKey)
                throws IOException, BookieException, InterruptedException {
            if (dropsEntryOne && entry.getLong(entry.readerIndex() + Long.BYTES) == 1) {
                entry.release();
                return;
            }
            super.addEntry(entry, ackBeforeSync, (rc, ledger, id, address, same) -> {
                callback.writeComplete(rc, ledger, id, address, same);
                lastStored = id;
            }, context, masterKey);
        }

        @Override
        public CompletableFuture<Boolean> fenceLedger(long ledger, byte[] masterKey)
                throws IOException, BookieException {
            if (fencesLate) {
                fencesLate = false;
                try {
                    Thread.sleep(500);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            return super.fenceLedger(ledger, masterKey);
        }
    }
}
