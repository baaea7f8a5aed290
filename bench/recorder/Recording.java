import org.HdrHistogram.Recorder;

/**
 * Times how long the reference's Recorder takes to record a value: so many threads record so many values in all, as
 * BenchmarkRecorder does in Go. Each round is printed; the first ones include compilation.
 */
public class Recording {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long values = Long.parseLong(args[1]);
        for (int round = 0; round < 5; round++) {
            Recorder recorder = new Recorder(1, Long.MAX_VALUE / 2, 3);
            Thread[] all = new Thread[threads];
            long begin = System.nanoTime();
            for (int n = 0; n < threads; n++) {
                long first = n + 1;
                all[n] = new Thread(() -> {
                    long value = first;
                    for (long i = 0; i < values / threads; i++) {
                        recorder.recordValue(value);
                        value = (value * 5 + 1) & 0xffffff;
                    }
                });
                all[n].start();
            }
            for (Thread thread : all) {
                thread.join();
            }
            long took = System.nanoTime() - begin;
            System.out.printf("%d threads: %.1f ns a value%n", threads, (double) took / values);
        }
    }
}
